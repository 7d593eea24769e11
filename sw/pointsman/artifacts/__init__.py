"""What goes from one stage to the next and into files: images, connection tables, routes, configurations.

Values and their files only: nothing here chooses, routes or judges. A folder has the values (``images.images``) and ``file``,
which writes and reads them. Images and connection tables are binary, in a ``container`` of ``sections`` with checksums
(docs/image_format.md, docs/tdm_target.md); routes and configurations are JSON. Equal values give equal bytes, and whatever is
read is checked to the last bit, so that a file can harm nothing behind it.
"""
