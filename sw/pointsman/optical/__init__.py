"""Optical TDM networks: connections reserved on demand, packets hopping over a logical topology, or everything compiled.

Time is counted in slots; slot t carries channel t mod d of every link, where d is the multiplexing degree (path multiplexing:
a connection has the same channel on all its links; Yuan 1998, §2.1). Start reading at ``fabric``, links with their ways;
``traffic`` has the messages, ``outcome`` what became of them, ``reservation`` the protocols of single-hop communication.
"""
