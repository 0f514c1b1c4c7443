import NIOCore

/// What differs between the payload formats of NAL units (RFC 6184, 5.2; RFC 7798, 4.4).
protocol NALUnitPayloadFormat: Sendable {
  /// The bytes of the header of a NAL unit, and of that of a payload.
  static var headerSize: Int { get }
  /// Returns whether a unit is sent, and whether it is a slice, which has a payload of its own; nil for one that is left out.
  static func isSlice(_ unit: ByteBuffer) -> Bool?
  /// Writes the header of a payload with several units.
  static func writeAggregationHeader(of units: [ByteBuffer], to payload: inout ByteBuffer)
  /// Writes the headers of a payload with a part of a unit.
  ///
  /// - Parameter header: that of the unit.
  static func writeFragmentHeader(of header: ByteBuffer, isFirst: Bool, isLast: Bool, to payload: inout ByteBuffer)
}

/// Splits frames of NAL units into RTP payloads: parameter sets and information together, a slice that is too large in fragments of
/// about equal size, every other NAL unit alone.
struct NALUnitPacketizer<Format: NALUnitPayloadFormat>: Sendable, Hashable {
  /// The maximum payload size in bytes, at least 16.
  var maximumPayloadSize: Int
  /// Whether several NAL units may share a payload.
  var aggregates: Bool

  /// Returns the payloads of one frame, in order.
  func packetize(_ units: some Sequence<ByteBuffer>) -> [ByteBuffer] {
    var payloads: [ByteBuffer] = []
    var gathered: [ByteBuffer] = []
    var gatheredSize = Format.headerSize
    for unit in units {
      guard let isSlice = Format.isSlice(unit) else { continue }
      let size = 2 + unit.readableBytes
      if aggregates, !isSlice, size <= maximumPayloadSize - Format.headerSize {
        if gatheredSize + size > maximumPayloadSize { Self.flush(&gathered, &gatheredSize, into: &payloads) }
        gathered.append(unit)
        gatheredSize += size
        continue
      }
      Self.flush(&gathered, &gatheredSize, into: &payloads)
      if unit.readableBytes <= maximumPayloadSize {
        payloads.append(unit)
      } else {
        fragment(unit, into: &payloads)
      }
    }
    Self.flush(&gathered, &gatheredSize, into: &payloads)
    return payloads
  }

  /// Writes the gathered units as one payload.
  private static func flush(_ units: inout [ByteBuffer], _ size: inout Int, into payloads: inout [ByteBuffer]) {
    defer {
      units = []
      size = Format.headerSize
    }
    guard units.count > 1 else { return payloads.append(contentsOf: units) }
    var payload = ByteBuffer()
    payload.reserveCapacity(size)
    Format.writeAggregationHeader(of: units, to: &payload)
    for unit in units {
      payload.writeInteger(UInt16(clamping: unit.readableBytes))
      payload.writeImmutableBuffer(unit)
    }
    payloads.append(payload)
  }

  private func fragment(_ unit: ByteBuffer, into payloads: inout [ByteBuffer]) {
    var rest = unit
    guard let header = rest.readSlice(length: Format.headerSize) else { return }
    let parts = rest.parts(ofAtMost: maximumPayloadSize - Format.headerSize - 1)
    for (index, part) in parts.enumerated() {
      var payload = ByteBuffer()
      payload.reserveCapacity(Format.headerSize + 1 + part.readableBytes)
      Format.writeFragmentHeader(of: header, isFirst: index == 0, isLast: index == parts.count - 1, to: &payload)
      payload.writeImmutableBuffer(part)
      payloads.append(payload)
    }
  }
}
