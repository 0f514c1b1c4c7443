package import NIOCore

extension AV1TemporalUnit {
  /// The spatial layer as which the frame of ``spatialLayer`` must be stored for decoders to show it; nil if it is stored as it is.
  ///
  /// A decoder shows the highest layer of a temporal unit. dav1d waits for the highest of the stream, or for a temporal delimiter, which
  /// files do not have: without the upper layers, which a server may leave out at any time, it would show nothing.
  package var storedLayer: UInt8? {
    guard isShown, let sequence else { return nil }
    let highest = UInt8(clamping: sequence.spatialLayers - 1)
    return spatialLayer < highest ? highest : nil
  }

  /// Returns a temporal unit in which the frames of its highest spatial layer are of another one: spatial_id in the headers of their OBUs.
  /// How a frame is decoded does not depend on its layer.
  ///
  /// - Parameters:
  ///   - unit: the temporal unit with these headers.
  ///   - layer: 0 to 3.
  package func moving(_ unit: ByteBuffer, to layer: UInt8) -> ByteBuffer {
    var moved = ByteBuffer()
    // At most a byte more for each OBU; there are few.
    moved.reserveCapacity(unit.readableBytes + 16)
    for obu in AV1OBUs(unit) {
      let isMoved = obu.type.isOfFrame && obu.spatialLayer == spatialLayer
      (isMoved ? obu.moved(to: layer) : obu).write(into: &moved)
    }
    return moved
  }
}
