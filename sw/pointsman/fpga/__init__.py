"""Area and clock of a block of hardware on an FPGA, through yosys and nextpnr: ``pointsman synth``.

In reading order: `blocks` (what can be measured), `chain` (its surroundings while it is measured), `tools` (how yosys and
nextpnr are run), `netlist` (cells, names), `outreg` (registers of block memories), `carry` (tables in front of
adders), `timing` (clock, critical path), `synth` (all of it).
"""
