import Bitstream
import NIOCore
import TestSupport
import Testing

/// Bits of H.264 with the codes of ITU-T H.264, 9.1.
private struct UnitBits {
  private var bits: [UInt8] = []
  private let header: UInt8

  init(_ header: UInt8) {
    self.header = header
  }

  mutating func write(_ value: Int, _ count: Int) {
    for position in (0..<count).reversed() { bits.append(UInt8(value >> position & 1)) }
  }

  mutating func code(_ value: Int) {
    let length = Int.bitWidth - (value + 1).leadingZeroBitCount
    write(value + 1, 2 * length - 1)
  }

  mutating func signed(_ value: Int) { code(value > 0 ? 2 * value - 1 : -2 * value) }

  /// The unit, with emulation prevention.
  var unit: ByteBuffer {
    var all = bits + [1]
    while all.count % 8 != 0 { all.append(0) }
    var bytes = [header]
    var zeros = 0
    for start in stride(from: 0, to: all.count, by: 8) {
      let byte = all[start..<start + 8].reduce(0) { $0 << 1 | $1 }
      if zeros == 2, byte <= 3 {
        bytes.append(3)
        zeros = 0
      }
      zeros = byte == 0 ? zeros + 1 : 0
      bytes.append(byte)
    }
    return ByteBuffer(bytes: bytes)
  }
}

/// A stream of main profile whose slices have headers only.
private struct OrderedStream {
  let sequence: H264SequenceParameterSet
  let picture: H264PictureParameterSet
  private let order: SequenceOrder
  private let isProgressive: Bool

  enum SequenceOrder {
    /// Type 0, with so many bits.
    case bits(Int)
    /// Type 1: offset_for_non_ref_pic, offset_for_top_to_bottom_field, offset_for_ref_frame.
    case cycle(others: Int, bottom: Int, [Int])
    case decoding
  }

  /// - Parameter hasWeights: whether slices of P and B frames state weights; nil for a picture parameter set that ends before.
  init(
    _ order: SequenceOrder, isProgressive: Bool = true, tellsBottomField: Bool = false, hasWeights: Bool? = nil
  ) throws {
    self.order = order
    self.isProgressive = isProgressive
    var bits = UnitBits(0x67)
    for byte in [77, 0, 30] { bits.write(byte, 8) }
    bits.code(0)
    // frame_num has 4 bits.
    bits.code(0)
    switch order {
    case .bits(let count):
      bits.code(0)
      bits.code(count - 4)
    case .cycle(let others, let bottom, let offsets):
      bits.code(1)
      bits.write(0, 1)
      bits.signed(others)
      bits.signed(bottom)
      bits.code(offsets.count)
      for offset in offsets { bits.signed(offset) }
    case .decoding: bits.code(2)
    }
    bits.code(4)
    bits.write(0, 1)
    bits.code(19)
    bits.code(14)
    bits.write(isProgressive ? 1 : 0, 1)
    if !isProgressive { bits.write(0, 1) }
    // direct_8x8_inference_flag, no cropping, no VUI.
    bits.write(1, 1)
    bits.write(0, 2)
    sequence = try H264SequenceParameterSet(parsing: bits.unit)
    var set = UnitBits(0x68)
    set.code(0)
    set.code(0)
    set.write(0, 1)
    set.write(tellsBottomField ? 1 : 0, 1)
    if let hasWeights {
      // One slice group, two references forwards and one backwards by default.
      for value in [0, 1, 0] { set.code(value) }
      set.write(hasWeights ? 0b101 : 0, 3)
      for _ in 0..<3 { set.signed(0) }
      // redundant_pic_cnt_present_flag
      set.write(hasWeights ? 1 : 0, 3)
    }
    picture = try H264PictureParameterSet(parsing: set.unit)
  }

  struct Slice {
    var frameNumber = 0
    var isIDR = false
    var isReference = true
    /// 0: frame, 1: top, 2: bottom.
    var field = 0
    /// pic_order_cnt_lsb, or the difference of type 1.
    var order = 0
    var bottom = 0
    var isBidirectional = false
    /// The memory management control operations with their values; nil without.
    var operations: [[Int]]?
  }

  func header(_ slice: Slice) throws -> H264SliceHeader {
    var bits = UnitBits(UInt8(slice.isReference ? 0x40 : 0) | (slice.isIDR ? 5 : 1))
    bits.code(0)
    bits.code(slice.isIDR ? 7 : slice.isBidirectional ? 6 : 5)
    bits.code(0)
    bits.write(slice.frameNumber, 4)
    if !isProgressive {
      bits.write(slice.field > 0 ? 1 : 0, 1)
      if slice.field > 0 { bits.write(slice.field == 2 ? 1 : 0, 1) }
    }
    if slice.isIDR { bits.code(0) }
    let tellsBottom = picture.tellsBottomField && slice.field == 0
    switch order {
    case .bits(let count):
      bits.write(slice.order & (1 << count - 1), count)
      if tellsBottom { bits.signed(slice.bottom) }
    case .cycle:
      bits.signed(slice.order)
      if tellsBottom { bits.signed(slice.bottom) }
    case .decoding: break
    }
    if let references = picture.references, !slice.isIDR { write(slice, references, to: &bits) }
    return try H264SliceHeader(parsing: bits.unit, parameters: sequence, picture: picture)
  }

  private func write(_ slice: Slice, _ references: H264PictureParameterSet.References, to bits: inout UnitBits) {
    if references.countsRedundantPictures { bits.code(0) }
    if slice.isBidirectional { bits.write(1, 1) }
    // Three references forwards, and a modification of their list.
    bits.write(1, 1)
    bits.code(2)
    if slice.isBidirectional { bits.code(0) }
    bits.write(1, 1)
    for value in [0, 4, 2, 1, 3] { bits.code(value) }
    if slice.isBidirectional { bits.write(0, 1) }
    if references.isWeighted {
      bits.code(5)
      bits.code(5)
      for index in 0..<(slice.isBidirectional ? 4 : 3) {
        bits.write(index == 1 ? 1 : 0, 1)
        if index == 1 { for value in [-20, 3] { bits.signed(value) } }
        bits.write(index == 2 ? 1 : 0, 1)
        if index == 2 { for value in [1, -1, 127, 0] { bits.signed(value) } }
      }
    }
    guard slice.isReference else { return }
    bits.write(slice.operations == nil ? 0 : 1, 1)
    for operation in slice.operations ?? [] { for value in operation { bits.code(value) } }
    if slice.operations != nil { bits.code(0) }
  }

  func counts(_ slices: [Slice]) throws -> [Int64] {
    var counter = H264PictureOrderCounter()
    return try slices.map { slice in
      let order = counter.add(try header(slice), sequence)
      return try #require(order).count
    }
  }
}

@Suite("Picture order of H.264")
struct H264PictureOrderTests {
  /// Returns the places in the order of output at which the frames are shown, from each keyframe on.
  private static func places(_ stream: H264Stream) throws -> [Int] {
    var sets = H264ParameterSets()
    var counter = H264PictureOrderCounter()
    return try stream.frames.map { frame in
      var order: PictureOrder?
      for unit in H264NALUnits(frame) {
        if unit.type.isParameterSet { sets.insert(unit.bytes) }
        guard unit.type.isSlice, order == nil else { continue }
        let sequence = try #require(sets.sequence(for: 0))
        let header = try H264SliceHeader(parsing: unit.bytes, parameters: sequence, picture: sets.picture(0))
        order = counter.add(header, sequence)
        #expect(order?.beginsSequence == header.isIDR)
      }
      return Int(try #require(order).count) / 2
    }
  }

  private static let common = "b-adapt=0:scenecut=0:ref=4:keyint=30:min-keyint=30"

  @Test("frames of x264 have the places in the order of output that its structure has")
  func places() throws {
    let flat = try H264Stream.make(
      seconds: 2, ["-c:v", "libx264", "-x264-params", Self.common + ":bframes=2:b-pyramid=none"])
    let places = try Self.places(flat)
    #expect(places.prefix(7) == [0, 3, 1, 2, 6, 4, 5])
    // Each sequence has 30 frames.
    #expect(places.prefix(30).sorted() == Array(0..<30))
    #expect(places.suffix(30).sorted() == Array(0..<30))
    let pyramid = try H264Stream.make(
      seconds: 1, ["-c:v", "libx264", "-x264-params", Self.common + ":bframes=3:b-pyramid=normal"])
    #expect(try Self.places(pyramid).prefix(9) == [0, 4, 2, 1, 3, 8, 6, 5, 7])
    let none = try H264Stream.make(seconds: 1, ["-c:v", "libx264", "-bf", "0"])
    #expect(try Self.places(none) == Array(0..<30))
  }

  @Test("type 0: the bits that are not coded follow from the last reference, over hundreds of wraps")
  func wraps() throws {
    let stream = try OrderedStream(.bits(4))
    var slices = [OrderedStream.Slice(isIDR: true)]
    var expected: [Int64] = [0]
    // P, B: 4, 2, 8, 6 …
    for group in 1..<2_000 {
      slices.append(.init(frameNumber: group % 16, order: 4 * group))
      slices.append(.init(frameNumber: (group + 1) % 16, isReference: false, order: 4 * group - 2))
      expected += [Int64(4 * group), Int64(4 * group - 2)]
    }
    #expect(try stream.counts(slices) == expected)
  }

  @Test("type 0: the earlier field of a frame counts, and fields count each for itself")
  func fields() throws {
    let frames = try OrderedStream(.bits(8), isProgressive: false, tellsBottomField: true)
    #expect(
      try frames.counts([
        .init(isIDR: true, bottom: 1), .init(frameNumber: 1, order: 8, bottom: -1),
        .init(frameNumber: 2, isReference: false, order: 4, bottom: 1),
      ]) == [0, 7, 4])
    #expect(
      try frames.counts([
        .init(isIDR: true, field: 1), .init(field: 2, order: 1), .init(frameNumber: 1, field: 1, order: 6),
        .init(frameNumber: 1, field: 2, order: 7), .init(frameNumber: 2, isReference: false, field: 1, order: 2),
        .init(frameNumber: 2, isReference: false, field: 2, order: 3),
      ]) == [0, 1, 6, 7, 2, 3])
  }

  @Test("type 1: a cycle of expected differences, and what slices add")
  func cycle() throws {
    let stream = try OrderedStream(.cycle(others: -2, bottom: 1, [4, 6]))
    // Reference frames are at 0, 4, 10, 14, 20; a frame that is none is 2 before the next expected one.
    #expect(
      try stream.counts([
        .init(isIDR: true), .init(frameNumber: 1), .init(frameNumber: 2, isReference: false), .init(frameNumber: 2),
        .init(frameNumber: 3, order: -1), .init(frameNumber: 4),
      ]) == [0, 4, 2, 10, 13, 20])
    let bottomFirst = try OrderedStream(.cycle(others: 0, bottom: -1, [2]), isProgressive: false)
    #expect(
      try bottomFirst.counts([.init(isIDR: true), .init(frameNumber: 1, field: 1), .init(frameNumber: 1, field: 2)])
        == [-1, 2, 1])
    // frame_num wraps.
    let long = try OrderedStream(.cycle(others: 0, bottom: 0, [2]))
    let counts = try long.counts(
      (0..<100).map { .init(frameNumber: $0 % 16, isIDR: $0 == 0) })
    #expect(counts == (0..<100).map { Int64(2 * $0) })
  }

  @Test("a cycle has at most 255 frames")
  func longCycle() throws {
    #expect(throws: Never.self) { try OrderedStream(.cycle(others: 0, bottom: 0, Array(repeating: 2, count: 255))) }
    #expect(throws: ParseError.self) {
      try OrderedStream(.cycle(others: 0, bottom: 0, Array(repeating: 2, count: 256)))
    }
    let largest = try OrderedStream(.cycle(others: 0, bottom: 0, Array(repeating: 2_147_483_000, count: 100)))
    #expect(throws: Never.self) { try largest.counts((0..<64).map { .init(frameNumber: $0 % 16, isIDR: $0 == 0) }) }
  }

  @Test("type 2: the order of decoding")
  func decoding() throws {
    let stream = try OrderedStream(.decoding)
    #expect(stream.sequence.reorderedFrames == 0)
    #expect(
      try stream.counts([
        .init(isIDR: true), .init(frameNumber: 1), .init(frameNumber: 2, isReference: false), .init(frameNumber: 2),
      ]) == [0, 2, 3, 4])
  }

  @Test("an IDR picture begins at 0 again, and begins a sequence")
  func sequences() throws {
    let stream = try OrderedStream(.bits(6))
    var counter = H264PictureOrderCounter()
    let slices: [OrderedStream.Slice] = [
      .init(isIDR: true), .init(frameNumber: 1, order: 24), .init(isIDR: true), .init(frameNumber: 1, order: 2),
    ]
    let orders = try slices.map { counter.add(try stream.header($0), stream.sequence) }
    #expect(orders.map { $0?.count } == [0, 24, 0, 2])
    #expect(orders.map { $0?.beginsSequence } == [true, false, true, false])
    #expect(orders[0]?.reorderedFrames == nil)
  }

  @Test("a picture with the operation 5 begins a sequence, behind all that may precede it", arguments: [false, true])
  func reset(hasWeights: Bool) throws {
    let stream = try OrderedStream(.bits(6), tellsBottomField: true, hasWeights: hasWeights)
    let reset = [[1, 3], [3, 0, 2], [5]]
    let slices: [OrderedStream.Slice] = [
      .init(isIDR: true, bottom: 1), .init(frameNumber: 1, order: 24, bottom: 1),
      .init(frameNumber: 2, isReference: false, order: 12, isBidirectional: true),
      .init(frameNumber: 2, order: 40, bottom: -1, operations: reset),
      .init(frameNumber: 1, order: 9, bottom: 1),
      .init(frameNumber: 2, order: 5, isBidirectional: true, operations: [[2, 1], [6, 0]]),
    ]
    var counter = H264PictureOrderCounter()
    let orders = try slices.map { counter.add(try stream.header($0), stream.sequence) }
    #expect(orders.map { $0?.count } == [0, 24, 12, 0, 9, 5])
    #expect(orders.map { $0?.beginsSequence } == [true, false, false, true, false, false])
    let headers = try slices.map { try stream.header($0).resetsOrder }
    #expect(headers == [false, false, false, true, false, false])
  }

  @Test("after the operation 5, frame_num counts from 0 for the types 1 and 2")
  func resetOfFrameNumber() throws {
    let stream = try OrderedStream(.cycle(others: 1, bottom: 0, [2]), hasWeights: false)
    #expect(
      try stream.counts([
        .init(isIDR: true), .init(frameNumber: 14), .init(frameNumber: 15, operations: [[5]]), .init(frameNumber: 1),
        .init(frameNumber: 2, isReference: false), .init(frameNumber: 2),
      ]) == [0, 28, 0, 2, 3, 4])
  }

  @Test("a header that ends before the operations, or has too many, resets nothing")
  func cutOperations() throws {
    let stream = try OrderedStream(.bits(6), hasWeights: true)
    let many = try stream.header(
      .init(frameNumber: 1, order: 8, operations: Array(repeating: [2, 1], count: 100) + [[5]]))
    #expect(!many.resetsOrder && many.order?.leastSignificantBits == 8)
    let bare = try OrderedStream(.bits(6))
    #expect(bare.picture.references == nil)
  }

  @Test("a header that ends before the order is no damage, and tells none")
  func cut() throws {
    let stream = try OrderedStream(.bits(16))
    var unit = ByteBuffer(bytes: [0x41, 0x9A, 0x20])
    unit.moveWriterIndex(to: 3)
    let header = try H264SliceHeader(parsing: unit, parameters: stream.sequence, picture: stream.picture)
    #expect(header.order == nil)
    var counter = H264PictureOrderCounter()
    let order = counter.add(header, stream.sequence)
    #expect(order == nil)
  }
}
