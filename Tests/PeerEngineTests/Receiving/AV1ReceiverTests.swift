import Bitstream
import Media
import NIOCore
import PeerEngine
import RTP
import TestSupport
import Testing

@Suite("AV1 receiver")
struct AV1ReceiverTests {
  private func sent(_ stream: AV1Layered, layers: (_ picture: Int) -> Int = { _ in 3 }) throws
    -> [(number: Int, bytes: ByteBuffer)]
  {
    try stream.pictures().enumerated().map { number, frames in
      (number, ByteBuffer(bytes: frames.prefix(layers(number)).flatMap { Array($0.readableBytesView) }))
    }
  }

  @Test("a temporal unit of all layers comes out as it was sent", arguments: AV1Layered.allCases, [60, 1_200])
  func whole(_ stream: AV1Layered, size: Int) throws {
    var maker = AV1PictureMaker(references: stream.references)
    maker.maximumPart = size
    var playback = AV1Playback()
    for packet in try stream.packets(maker) { playback.add(packet) }
    let frames = playback.emitted
    let wanted = try sent(stream)
    expectSame(frames.map(\.payload), wanted.map(\.bytes))
    #expect(playback.numbers.map { stream.isKeyframe($0) } == frames.map(\.dependency.isKeyframe))
    #expect(frames.allSatisfy { $0.header?.isShown == true && $0.size == VideoSize(width: 256, height: 144) })
    #expect(!playback.needsKeyframe)
  }

  @Test(
    "a picture without its upper layers is a smaller one, which decoders show in time",
    arguments: [true, false], [true, false])
  func leftOutLayers(hasDescriptors: Bool, setsMarkers: Bool) throws {
    // From the fourth picture on two layers, from the eighth on one.
    let layers = { (picture: Int) in picture < 4 ? 3 : picture < 8 ? 2 : 1 }
    let stream = AV1Layered.key
    var maker = AV1PictureMaker(references: stream.references)
    if !hasDescriptors { maker.references = nil }
    maker.setsMarkers = setsMarkers
    var playback = AV1Playback()
    for packet in try stream.packets(maker, layers: layers) { playback.add(packet) }
    // Without a marker, the last one has not ended.
    #expect(playback.numbers == Array(0..<(setsMarkers ? 12 : 11)))
    #expect(
      playback.emitted.map(\.size?.description)
        == [String](repeating: "256x144", count: 4) + [String](repeating: "128x72", count: 4)
        + [String](repeating: "64x36", count: setsMarkers ? 4 : 3))
    let wanted = try AV1Layered.decode(try sent(stream, layers: layers), with: "libaom-av1").filter {
      $0.key < playback.numbers.count
    }
    let emitted = playback.emitted.enumerated().map { ($0, $1.payload) }
    #expect(try AV1Layered.decode(emitted) == wanted)
    #expect(try AV1Layered.decode(emitted, with: "libaom-av1") == wanted)
  }

  @Test("where the number of layers falls to one and rises again, dav1d shows each picture in time")
  func changedLayers() throws {
    let layered = try sent(.all).map(\.bytes)
    let single = try AV1Layered.singleLayer()
    // The second sequence is of one layer, the last one of three again.
    let units = Array(layered.prefix(6)) + single + Array(layered.suffix(6))
    var maker = AV1PictureMaker()
    var playback = AV1Playback()
    for (number, unit) in units.enumerated() {
      for packet in maker.packets(number, [(0, unit)], isKeyframe: false) { playback.add(packet) }
    }
    #expect(playback.numbers == Array(units.indices))
    let emitted = playback.emitted.map(\.payload)
    #expect(emitted[..<6] == layered[..<6] && emitted[6] != single[0])
    let wanted = try AV1Layered.decode(Array(units.enumerated().map { ($0, $1) }), with: "libaom-av1")
    #expect(wanted.count == units.count && wanted.values.allSatisfy { $0.count == 1 })
    #expect(try AV1Layered.decode(emitted.enumerated().map { ($0, $1) }) == wanted)
  }

  @Test(
    "with lost, late and reordered packets, everything that is emitted is decoded as it would be without",
    arguments: AV1Layered.allCases, 1...4 as ClosedRange<UInt64>)
  func losses(_ stream: AV1Layered, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var maker = AV1PictureMaker(references: stream.references)
    if seed == 4 { maker.references = nil }
    maker.maximumPart = 150
    var playback = AV1Playback()
    let damaged = playback.addImpaired(try stream.packets(maker), oneLostIn: 25, using: &generator)
    let numbers = playback.numbers
    #expect(Set(numbers).count == numbers.count && numbers.count < 12)
    let wanted = try AV1Layered.decode(try sent(stream), with: "libaom-av1")
    let found = try AV1Layered.decode(playback.emitted.map { (Int($0.timestamp / 3_000), $0.payload) })
    #expect(found.count == numbers.count)
    // A picture of which a layer is missing may be smaller.
    #expect(found.filter { !damaged.contains($0.key) }.allSatisfy { wanted[$0] == $1 })
    #expect(numbers.allSatisfy { !damaged.contains($0) || found[$0]?.count == 1 })
  }

  @Test(
    "a stream of Chromium goes on after a loss in a higher temporal layer, and waits for a keyframe after one in the lowest",
    arguments: [([], []), ([6], [6]), ([7], [7, 8]), ([9], [9, 10, 11, 12]), ([2], [2, 3, 4])] as [([Int], [Int])])
  func chromium(lost: [Int], missing: [Int]) throws {
    var bytes = try Fixture.bytes("av1/chromium156-l2t3-key.ivf", in: .module)
    bytes.moveReaderIndex(forwardBy: 32)
    var units: [ByteBuffer] = []
    while let length = bytes.readInteger(endianness: .little, as: UInt32.self),
      bytes.readInteger(as: UInt64.self) != nil,
      let unit = bytes.readSlice(length: Int(length))
    {
      units.append(unit)
    }
    #expect(units.count == 13)
    // From the keyframe 5 on, the temporal layers 0 2 1 2.
    var maker = AV1PictureMaker { picture, layer in
      if picture == 0 || picture == 5 { return layer == 0 ? [] : [1] }
      return [picture < 5 ? 3 : 3 * [4, 1, 2, 1][(picture - 5) % 4]]
    }
    maker.temporalLayer = { $0 < 5 ? 0 : [0, 2, 1, 2][($0 - 5) % 4] }
    var playback = AV1Playback()
    for (number, unit) in units.enumerated() {
      var layers = [ByteBuffer(), ByteBuffer()]
      for obu in AV1OBUs(unit) { obu.write(into: &layers[Int(obu.spatialLayer) & 1]) }
      let frames = layers.enumerated().filter { $0.element.readableBytes > 0 }.map { ($0.offset, $0.element) }
      for packet in maker.packets(number, frames, isKeyframe: number == 0 || number == 5) where !lost.contains(number) {
        playback.add(packet)
      }
    }
    #expect(playback.numbers == units.indices.filter { !missing.contains($0) })
    #expect(playback.emitted.allSatisfy { $0.size == VideoSize(width: 640, height: 480) })
    let wanted = try AV1Layered.decode(Array(units.enumerated().map { ($0, $1) }), with: "libaom-av1")
    let found = try AV1Layered.decode(playback.emitted.map { (Int($0.timestamp / 3_000), $0.payload) })
    #expect(found.count == 13 - missing.count && found.allSatisfy { wanted[$0] == $1 })
  }

  @Test("a loss is repaired by a keyframe, and only a real keyframe starts a decoder")
  func keyframes() throws {
    let packets = try AV1Layered.all.packets(AV1PictureMaker())
    var playback = AV1Playback()
    for packet in packets where packet.picture != 2 { playback.add(packet) }
    #expect(playback.numbers == [0, 1] + Array(6..<12))
    var late = AV1Playback()
    for packet in packets where packet.picture >= 3 { late.add(packet) }
    #expect(late.numbers == Array(6..<12))
    // After a restart, too.
    var restarted = AV1Playback()
    for packet in packets {
      if packet.picture == 3 { restarted.receiver.restart() }
      restarted.add(packet)
    }
    #expect(restarted.numbers == [0, 1, 2] + Array(6..<12))
  }

  @Test("a keyframe is known by its first packet, with the size of its sequence header")
  func starts() throws {
    let frames = try AV1Layered.all.pictures()
    let size = VideoSize(width: 256, height: 144)
    for limit in [40, 1_200] {
      let packetizer = AV1Packetizer(maximumPayloadSize: limit)
      let keyframe = packetizer.packetize(frame: frames[0][0])
      #expect(AV1Receiver.keyframeStart(in: keyframe[0])?.size == size)
      #expect(
        keyframe.dropFirst().allSatisfy { AV1Receiver.keyframeStart(in: $0) == nil && !AV1Receiver.startsFrame($0) })
      for frame in [frames[0][1], frames[1][0]] {
        #expect(packetizer.packetize(frame: frame).allSatisfy { AV1Receiver.keyframeStart(in: $0) == nil })
      }
      #expect(AV1Receiver.startsFrame(keyframe[0]))
      #expect(AV1Receiver.startsFrame(packetizer.packetize(frame: frames[1][0])[0]))
      #expect(!AV1Receiver.startsFrame(packetizer.packetize(frame: frames[1][1])[0]))
    }
    // A sequence header that is repeated before another frame begins no keyframe; one in a packet of its own may.
    let sequence = try #require(AV1OBUs(frames[0][0]).first { $0.type == .sequenceHeader })
    var repeated = ByteBuffer()
    for obu in [sequence] + Array(AV1OBUs(frames[1][0])) { obu.write(into: &repeated) }
    let packetizer = AV1Packetizer(maximumPayloadSize: 1_200)
    #expect(AV1Receiver.keyframeStart(in: packetizer.packetize(frame: repeated)[0]) == nil)
    var alone = ByteBuffer()
    sequence.write(into: &alone)
    #expect(AV1Receiver.keyframeStart(in: packetizer.packetize(frame: alone)[0])?.size == size)
  }

  @Test("random and damaged packets are dropped frames at worst")
  func random() throws {
    var generator = SeededGenerator(seed: 7)
    let packets = try AV1Layered.all.packets(AV1PictureMaker(references: AV1Layered.all.references))
    var receiver = AV1Receiver()
    var emitted = 0
    for round in 0..<3_000 {
      var packet = packets.randomElement(using: &generator)?.packet ?? packets[0].packet
      if round % 40 < 3 { packet = packets[round % 40].packet }
      packet.timestamp = UInt32(round / 4)
      packet.marker = Int.random(in: 0..<4, using: &generator) == 0
      if Bool.random(using: &generator) {
        let index = Int.random(in: 0..<min(12, packet.payload.readableBytes), using: &generator)
        packet.payload.setInteger(UInt8.random(in: 0...255, using: &generator), at: packet.payload.readerIndex + index)
      }
      if Int.random(in: 0..<10, using: &generator) == 0 {
        packet.payload = ByteBuffer(
          bytes: (0..<Int.random(in: 0...40, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator)
          })
      }
      if Int.random(in: 0..<10, using: &generator) == 0 {
        packet.dependencyDescriptor = (0..<Int.random(in: 0...12, using: &generator)).map { _ in
          UInt8.random(in: 0...255, using: &generator)
        }
      }
      if Int.random(in: 0..<50, using: &generator) == 0 { receiver.addLost(Int.random(in: 1...3, using: &generator)) }
      _ = AV1Receiver.keyframeStart(in: packet.payload)
      _ = AV1Receiver.startsFrame(packet.payload)
      receiver.add(packet)
      while let (frame, isDecodable) = receiver.popFrame() {
        if isDecodable { emitted += 1 }
        #expect(!isDecodable || frame.dependency.isComplete)
      }
    }
    receiver.finish()
    #expect(emitted < 3_000)
  }
}
