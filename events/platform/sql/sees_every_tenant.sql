SELECT log.sees_every_tenant();
