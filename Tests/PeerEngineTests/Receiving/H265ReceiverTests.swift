import Bitstream
import Media
import NIOCore
import PeerEngine
import RTP
import TestSupport
import Testing

@Suite("H.265 receiver")
struct H265ReceiverTests {
  private typealias Maker = H265FrameMaker
  private let now = MonotonicInstant.now

  @Test("a keyframe is known from its parameter sets, together or alone, and from its first slice")
  func keyframeStart() {
    let alone = H265Packetizer(maximumPayloadSize: 60).packetize(frame: Maker.frame(Maker.keyframe(size: 200)))
    let known = alone.map { H265Receiver.keyframeStart(in: $0) }
    // The video parameter set, the two others, and the fragments of the slice.
    #expect(known.first == .some(.init(size: nil, isFirst: true)))
    #expect(known.contains { $0 == .init(size: VideoSize(width: 320, height: 180), isFirst: false) })
    #expect(known.last == .some(nil))
    let together = H265Packetizer(maximumPayloadSize: 1_200).packetize(frame: Maker.frame(Maker.keyframe()))
    #expect(H265Receiver.keyframeStart(in: together[0]) == .init(size: VideoSize(width: 320, height: 180)))
    #expect(H265Receiver.keyframeStart(in: Maker.slice(0, type: 21)) == .init(size: nil))
    for payload in [Maker.slice(0, type: 21, isFirst: false), Maker.slice(4), Maker.picture, ByteBuffer()] {
      #expect(H265Receiver.keyframeStart(in: payload) == nil)
    }
  }

  @Test("a frame begins with a delimiter, a video parameter set, or a first slice of other frames")
  func frameStart() {
    for payload in [Maker.delimiter, Maker.video, Maker.slice(4), Maker.slice(4, type: 8)] {
      #expect(H265Receiver.startsFrame(payload))
    }
    for payload in [
      Maker.sequence, Maker.picture, Maker.slice(4, isFirst: false), Maker.slice(0, type: 19), ByteBuffer(),
    ] {
      #expect(!H265Receiver.startsFrame(payload))
    }
    let fragments = H265Packetizer(maximumPayloadSize: 40).packetize(frame: Maker.frame([Maker.slice(4, size: 100)]))
    #expect(
      fragments.map { H265Receiver.startsFrame($0) } == [true] + [Bool](repeating: false, count: fragments.count - 1))
  }

  /// A stream with leading pictures, of x265's order: of each number the picture order count and the type.
  private static let pattern: [(order: Int, type: UInt8)] = [
    (20, 21), (18, 9), (17, 8), (19, 8), (24, 1), (22, 1), (21, 0), (23, 0), (28, 1), (26, 1), (25, 0), (27, 0),
  ]

  @Test("what arrives is emitted whole and in order, and what needs a missing frame is not", arguments: 1...40)
  func losses(seed: Int) throws {
    var generator = SeededGenerator(seed: UInt64(seed))
    var receiver = H265Receiver()
    var expected: [Int] = []
    var emitted: [Int] = []
    var isBroken = true
    var skipsLeading = true
    for number in 0..<240 {
      let (order, type) = Self.pattern[number % 12]
      let isKeyframe = type == 21
      let size = Int.random(in: 10...(isKeyframe ? 4_000 : 2_000), using: &generator)
      let slice = Maker.slice(order, type: type, size: size)
      let frame = Maker.frame(isKeyframe ? Maker.sets + [slice] : [slice])
      let payloads = H265Packetizer(maximumPayloadSize: 1_200).packetize(frame: frame)
      let lost = payloads.map { _ in Int.random(in: 0..<60, using: &generator) == 0 }
      for (position, payload) in payloads.enumerated() {
        if lost[position] {
          receiver.addLost(1)
        } else {
          receiver.add(
            ReceivedPacket(
              payload: payload, timestamp: UInt32(number), marker: position == payloads.count - 1, arrival: now))
        }
        while let (frame, isDecodable) = receiver.popFrame() {
          guard isDecodable else { continue }
          #expect(frame.dependency.isComplete)
          emitted.append(Int(frame.timestamp))
        }
      }
      if lost.contains(true) {
        isBroken = true
        continue
      }
      if isKeyframe {
        skipsLeading = isBroken
        isBroken = false
      }
      if !isBroken, !(skipsLeading && (type == 8 || type == 9)) { expected.append(number) }
    }
    #expect(emitted == expected)
  }

  @Test("random bytes as payloads, alone and after a keyframe, emit no damaged frame")
  func random() {
    var generator = SeededGenerator(seed: 7_798)
    var receiver = H265Receiver(parameterSets: Maker.sets)
    for number in 0..<20_000 {
      var bytes = (0..<Int.random(in: 0...60, using: &generator)).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
      if bytes.count > 2, number % 3 == 0 {
        bytes[0] = [0x02, 0x26, 0x2A, 0x60, 0x62, 0x42].randomElement(using: &generator) ?? 0x02
        bytes[1] = 1
      }
      let payload = number % 50 == 0 ? Maker.slice(0, type: 19) : ByteBuffer(bytes: bytes)
      _ = (H265Receiver.keyframeStart(in: payload), H265Receiver.startsFrame(payload))
      receiver.addLost(number % 97 == 0 ? 1 : 0)
      receiver.add(
        ReceivedPacket(
          payload: payload, timestamp: UInt32(number / 2), marker: Bool.random(using: &generator), arrival: now))
      while let (frame, isDecodable) = receiver.popFrame() {
        guard isDecodable else { continue }
        #expect(frame.dependency.isComplete && (try? H265FrameHeader(parsing: frame.payload)) != nil)
      }
    }
  }
}
