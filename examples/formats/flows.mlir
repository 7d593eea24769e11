module {
  aie.device(npu1) {
    %shim = aie.tile(0, 0)
    %near = aie.tile(0, 2)
    %far = aie.tile(1, 2)
    aie.flow(%shim, DMA : 0, %near, DMA : 0)
    aie.flow(%shim, DMA : 0, %far, DMA : 0)   // the same port: a multicast
    aie.packet_flow(3) {
      aie.packet_source<%far, DMA : 0>
      aie.packet_dest<%near, DMA : 1>
    }
  }
}
