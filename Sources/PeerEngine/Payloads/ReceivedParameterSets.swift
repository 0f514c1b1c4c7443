import Bitstream
import NIOCore

/// The parameter sets of a source: those that came in the stream, and those of the description.
struct ReceivedParameterSets<Format: NALUnitFrameFormat>: Sendable {
  /// All of them; those of the stream count more.
  private(set) var sets = Format.ParameterSets()
  /// Those of the description, each a NAL unit.
  private var described: [ByteBuffer]
  /// Whether the last keyframe came with its parameter sets.
  private var keyframesBringSets = false

  /// - Parameter described: NAL units from the description.
  init(described: [ByteBuffer]) {
    self.described = described
    addDescribed()
  }

  mutating func insert(_ unit: ByteBuffer) { sets.insert(unit) }

  /// Replaces the parameter sets of the description.
  mutating func setDescribed(_ units: [ByteBuffer]) {
    guard units != described else { return }
    described = units
    let received = sets
    addDescribed()
    sets.merge(received)
  }

  private mutating func addDescribed() {
    for unit in described { sets.insert(unit) }
  }

  /// Forgets the parameter sets of the stream: another one follows.
  mutating func restart() {
    sets = Format.ParameterSets()
    addDescribed()
    keyframesBringSets = false
  }

  /// Returns a keyframe with the parameter sets that it refers to in front of its slices; nil if those that it came with may be
  /// missing.
  ///
  /// - Parameters:
  ///   - payload: the units of the keyframe.
  ///   - pictures: the ids of the picture parameter sets.
  ///   - lostBefore: the number of packets lost before the keyframe, which may have been its parameter sets.
  mutating func complete(_ payload: ByteBuffer, _ pictures: [UInt8], lostBefore: Int) -> ByteBuffer? {
    var own = Format.ParameterSets()
    for unit in NALUnits(payload) {
      if Format.traits(of: unit).contains(.isSlice) { break }
      own.insert(unit)
    }
    if own.units(for: pictures) != nil {
      keyframesBringSets = true
      return payload
    }
    if lostBefore > 0, keyframesBringSets { return nil }
    keyframesBringSets = false
    guard let inserted = sets.units(for: pictures) else { return nil }
    let ids = inserted.compactMap(Format.ParameterSets.identity)
    var whole = ByteBuffer()
    whole.reserveCapacity(payload.readableBytes + inserted.reduce(0) { $0 + NALUnits.lengthSize + $1.readableBytes })
    for unit in inserted { NALUnits.append(unit, to: &whole) }
    var hasSlice = false
    for unit in NALUnits(payload) {
      hasSlice = hasSlice || Format.traits(of: unit).contains(.isSlice)
      // Those that it came with are among the inserted ones, or were replaced.
      if !hasSlice, let id = Format.ParameterSets.identity(of: unit), ids.contains(id) { continue }
      NALUnits.append(unit, to: &whole)
    }
    return whole
  }
}
