"""The core document: present versions, snapshots, changes and the review queue of every user."""
