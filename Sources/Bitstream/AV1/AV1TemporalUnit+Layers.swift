package import NIOCore

extension AV1TemporalUnit {
  /// Returns the temporal unit as it is stored, so that decoders show each picture of a stream with spatial layers, and in time.
  ///
  /// A decoder shows the highest layer of a temporal unit. dav1d waits for the highest of the sequence, or for a temporal delimiter, which
  /// files do not have: of a picture without the upper layers, which a server may leave out at any time, it would show nothing; and where
  /// the number of layers changes, it would show a picture late or not at all. So once there have been layers, each sequence header says
  /// that there are three, and the highest frame of each picture is of the highest layer: spatial_id in the headers of its OBUs. How a
  /// frame is decoded does not depend on its layer.
  ///
  /// - Parameter unit: the temporal unit with these headers.
  package func stored(_ unit: ByteBuffer) -> ByteBuffer {
    let isLower = isShown && spatialLayer < storedLayer
    guard isLower || changesLayers else { return unit }
    var stored = ByteBuffer()
    // At most a byte more for each OBU; there are few.
    stored.reserveCapacity(unit.readableBytes + 16)
    for obu in AV1OBUs(unit) {
      if isLower, obu.type.isOfFrame, obu.spatialLayer == spatialLayer {
        obu.moved(to: storedLayer).write(into: &stored)
      } else if changesLayers, obu.type == .sequenceHeader, let header = try? AV1SequenceHeader(parsing: obu.payload) {
        obu.replacing(header.payload(obu.payload, withSpatialLayersUpTo: storedLayer)).write(into: &stored)
      } else {
        obu.write(into: &stored)
      }
    }
    return stored
  }
}
