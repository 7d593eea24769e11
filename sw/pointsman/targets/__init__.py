"""From a plan or a program to the hardware's data: images of routers, tables of a switch, interface addresses.

`target` is the interface through which ``pointsman compile`` and ``run`` use every kind of hardware. ``numesh`` turns a plan into
images, ``tdm`` a program into connection tables, ``packet`` a program into messages with interface addresses.
"""
