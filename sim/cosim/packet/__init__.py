"""Networks of packet routers: traffic of their own, a cycle model, and the hardware for the verilated engine."""
