"""From a plan or a program to what the hardware is loaded with: images of routers, tables of a switch, interface addresses.

`target` is what ``pointsman compile`` and ``run`` ask of every kind of hardware. ``numesh`` makes a plan into images, ``tdm`` and
``packet`` make a program into connection tables and into messages with addresses.
"""
