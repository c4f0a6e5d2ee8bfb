date_trunc(%(bucket)s, fine.{axis}, %(timezone)s) AS {axis}
