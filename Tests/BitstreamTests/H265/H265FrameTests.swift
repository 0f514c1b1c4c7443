import Bitstream
import NIOCore
import Testing

@Suite("H.265 frames")
struct H265FrameTests {
  private let open = H265Streams.open
  private var sets: H265ParameterSets { H265Streams.sets([open.video, open.sequence, open.picture]) }

  @Test("NAL units are read one after the other, with type, layer and temporal sub-layer")
  func units() {
    let frame = H265Streams.frame([open.video, open.sequence, open.picture, open.slices[0], bytes("4A0250")])
    let units = Array(H265NALUnits(frame))
    #expect(
      units.map(\.type) == [
        .videoParameterSet, .sequenceParameterSet, .pictureParameterSet, .idrWithoutLeading, .endOfBitstream,
      ])
    #expect(units.map(\.temporalIDPlus1) == [1, 1, 1, 1, 2])
    #expect(units.map(\.layerID) == [0, 0, 0, 0, 0])
    #expect(units.map(\.isKept) == [true, true, true, true, false])
    #expect(H265NALUnit(bytes("2611"))?.layerID == 2 && H265NALUnit(bytes("2611"))?.isKept == false)
    #expect(H265NALUnit(bytes("A601"))?.isValid == false && H265NALUnit(bytes("2600"))?.isValid == false)
    #expect(H265NALUnit(bytes("26")) == nil)
  }

  @Test("a slice tells its type, its picture parameter set and its picture order count")
  func slices() throws {
    let headers = try open.slices.map { try H265SliceHeader(parsing: $0, sets: sets) }
    #expect(headers.map { $0.picture.map { Int64($0.orderCount) } } == H265Streams.openCounts)
    #expect(headers.allSatisfy { $0.isFirst && $0.pictureParameterSetID == 0 && $0.picture?.isShown == true })
    #expect(headers.prefix(5).map { $0.picture?.sliceType } == [2, 1, 0, 0, 0])
    #expect(headers.filter(\.type.isSkippedLeading).count == 3)
    #expect(try H265SliceHeader(parsing: open.slices[1]).picture == nil)
    let parts = try H265Streams.slices.slices.map { try H265SliceHeader(parsing: $0) }
    #expect(parts.map(\.isFirst) == [true, false, true, false])
    #expect(throws: ParseError.self) { try H265SliceHeader(parsing: open.sequence) }
  }

  @Test("picture order counts grow beyond what slices can tell, and begin again with a sequence")
  func orders() throws {
    let parameters = try H265SequenceParameterSet(parsing: open.sequence)
    var counter = H265PictureOrderCounter()
    let headers = try open.slices.map { try H265SliceHeader(parsing: $0, sets: sets) }
    let orders = headers.map { counter.add($0, parameters) }
    #expect(orders.map { $0?.count } == H265Streams.openCounts)
    #expect(orders.map { $0?.beginsSequence == true } == [true] + [Bool](repeating: false, count: 21))
    #expect(orders.allSatisfy { $0?.reorderedFrames == 2 })
    // The count has 8 bits: slices of type 1 whose count is 4 above that of the one before.
    var counts: [Int64] = []
    for number in 7..<150 {
      let slice = bytes("0201d0214988").withCount(UInt8(truncatingIfNeeded: number * 4))
      counts.append(try #require(counter.add(try H265SliceHeader(parsing: slice, sets: sets), parameters)).count)
    }
    #expect(counts == (7..<150).map { $0 * 4 })
    // A CRA picture continues the sequence, and begins one after the end of a sequence.
    let random = try H265SliceHeader(parsing: open.slices[17], sets: sets)
    #expect(counter.add(random, parameters, endsSequence: true)?.beginsSequence == false)
    #expect(counter.add(random, parameters) == PictureOrder(count: 20, beginsSequence: true, reorderedFrames: 2))
    #expect(counter.add(headers[0], parameters) == PictureOrder(count: 0, beginsSequence: true, reorderedFrames: 2))
  }

  @Test("a frame is a keyframe with the size of its parameter sets if its slices are of the types 16 to 21")
  func frames() throws {
    for index in [0, 17] {
      let header = try H265FrameHeader(
        parsing: H265Streams.frame([open.video, open.sequence, open.picture, open.slices[index]]))
      #expect(header.isKeyframe && header.size == .init(width: 320, height: 180) && header.picture?.isShown == true)
    }
    let other = try H265FrameHeader(parsing: H265Streams.frame([open.slices[1]]))
    #expect(!other.isKeyframe && other.size == nil && !other.isSkippedLeading)
    #expect(try H265FrameHeader(parsing: H265Streams.frame([open.slices[18]])).isSkippedLeading)
    let parts = H265Streams.slices
    #expect(
      try H265FrameHeader(
        parsing: H265Streams.frame([parts.video, parts.sequence, parts.picture, parts.slices[0], parts.slices[1]])
      ).isKeyframe)
  }

  @Test("what is no whole frame is refused")
  func refused() {
    var cut = H265Streams.frame([open.slices[1]])
    cut.moveWriterIndex(to: cut.writerIndex - 1)
    let frames = [
      ByteBuffer(), cut, H265Streams.frame([open.video, open.sequence, open.picture]),
      H265Streams.frame([open.slices[0]]), H265Streams.frame([open.sequence, open.picture, open.slices[0]]),
      H265Streams.frame([open.slices[1], open.slices[3]]), H265Streams.frame([open.slices[1], bytes("02")]),
    ]
    for frame in frames {
      #expect(throws: ParseError.self) { try H265FrameHeader(parsing: frame) }
    }
  }
}

extension ByteBuffer {
  /// Returns a slice of type 1 and P with another slice_pic_order_cnt_lsb of 8 bits.
  fileprivate func withCount(_ count: UInt8) -> ByteBuffer {
    var slice = self
    // first_slice_segment_in_pic_flag, slice_pic_parameter_set_id 0, slice_type 1 (010): 5 bits; then the count.
    slice.setInteger(UInt8(0b1101_0000) | count >> 5, at: slice.readerIndex + 2)
    slice.setInteger(count << 3 | 0x01, at: slice.readerIndex + 3)
    return slice
  }
}
