import Bitstream
import Foundation
import Media
import NIOCore
import PeerEngine
import RTP
import TestSupport
import Testing

@Suite("VP9 receiver")
struct VP9ReceiverTests {
  /// A stream of libvpx with three spatial layers.
  enum Layered: String, CaseIterable, CustomTestStringConvertible {
    /// Each layer is predicted from the one below; keyframes are the pictures 0 and 6.
    case all = "three-spatial-layers"
    /// Only the keyframe's layers are predicted from each other; three temporal layers in the pattern 0 2 1 2.
    case key = "three-spatial-layers-key"

    var testDescription: String { rawValue }

    func isKeyframe(_ picture: Int) -> Bool { picture == 0 || self == .all && picture == 6 }

    func describe(_ picture: Int, _ layer: Int, _ descriptor: inout VP9PayloadDescriptor) {
      descriptor.isNotReferenceForUpperLayers = layer == 2
      switch self {
      case .all:
        descriptor.layers = .init(spatial: UInt8(layer), isInterLayerPredicted: layer > 0)
        descriptor.mode = .nonFlexible(baseLayerIndex: UInt8(picture))
      case .key:
        descriptor.layers = .init(
          temporal: [0, 2, 1, 2][picture % 4], isSwitchingUpPoint: true, spatial: UInt8(layer),
          isInterLayerPredicted: picture == 0 && layer > 0)
        descriptor.mode = .nonFlexible(baseLayerIndex: UInt8(picture / 4))
      }
    }
  }

  /// Returns the pictures of a fixture as superframes.
  private func pictures(_ name: String) throws -> [VP9Superframe] {
    var bytes = try Fixture.bytes("vp9/\(name).ivf", in: .module)
    bytes.moveReaderIndex(forwardBy: 32)
    var pictures: [VP9Superframe] = []
    while let length = bytes.readInteger(endianness: .little, as: UInt32.self) {
      bytes.moveReaderIndex(forwardBy: 8)
      let unit = bytes.readSlice(length: Int(length))
      pictures.append(try VP9Superframe(parsing: try #require(unit)))
    }
    return pictures
  }

  private func packets(_ stream: Layered) throws -> [PicturePacket] {
    var maker = VP9PictureMaker()
    var packets: [PicturePacket] = []
    for (number, picture) in try pictures(stream.rawValue).enumerated() {
      packets += maker.packets(
        number, picture.frames, isKeyframe: stream.isKeyframe(number), describe: stream.describe)
    }
    return packets
  }

  /// Decodes pictures and returns the size and MD5 sum of each image, by the number of the picture.
  private func decode(_ units: [(number: Int, bytes: ByteBuffer)], with decoder: String) throws -> [Int: [String]] {
    var file = ByteBuffer(string: "DKIF")
    file.writeMultipleIntegers(UInt16(0), UInt16(32), endianness: .little)
    file.writeString("VP90")
    file.writeMultipleIntegers(
      UInt16(256), UInt16(144), UInt32(30), UInt32(1), UInt32(units.count), UInt32(0), endianness: .little)
    for unit in units {
      file.writeMultipleIntegers(
        UInt32(unit.bytes.readableBytes), UInt64(unit.number), endianness: .little)
      file.writeImmutableBuffer(unit.bytes)
    }
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).ivf")
    defer { try? FileManager.default.removeItem(at: path) }
    try Data(file.readableBytesView).write(to: path)
    let result = try ExternalTool.run(
      "ffmpeg",
      ["-v", "error", "-c:v", decoder, "-i", path.path, "-autoscale", "0", "-fps_mode", "passthrough"]
        + ["-f", "framemd5", "-"])
    #expect(result.errors == "")
    var images: [Int: [String]] = [:]
    for line in result.output.split(separator: "\n") where !line.hasPrefix("#") {
      let fields = line.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
      images[try #require(Int(fields[2])), default: []].append("\(fields[4]) \(fields[5])")
    }
    return images
  }

  @Test("FFmpeg shows each picture once, as libvpx decodes what was sent", arguments: Layered.allCases)
  func hiddenLayers(_ stream: Layered) throws {
    var playback = VP9Playback()
    for packet in try packets(stream) { playback.add(packet) }
    let frames = playback.emitted
    #expect(frames.count == 12 && playback.frames.count == 12)
    #expect(frames.map { Int($0.header?.hiddenLayers ?? 0) } == Array(repeating: 2, count: 12))
    #expect(frames.allSatisfy { $0.header?.isShown == true })
    let size = stream == .all ? VideoSize(width: 256, height: 144) : VideoSize(width: 1_024, height: 576)
    #expect(frames.allSatisfy { $0.size == size })
    let sent = try pictures(stream.rawValue).enumerated().map { number, picture in
      var unit = ByteBuffer()
      picture.write(into: &unit)
      return (number, unit)
    }
    let wanted = try decode(sent, with: "libvpx-vp9")
    #expect(wanted.count == 12 && wanted.values.allSatisfy { $0.count == 1 })
    let emitted = frames.enumerated().map { ($0, $1.payload) }
    #expect(try decode(emitted, with: "vp9") == wanted)
    #expect(try decode(emitted, with: "libvpx-vp9") == wanted)
    // Without the change, FFmpeg shows an image of each layer.
    #expect(try decode(sent, with: "vp9").values.allSatisfy { $0.count == 3 })
  }

  @Test(
    "a picture of which a server forwards only lower layers is a smaller picture", arguments: Layered.allCases,
    [true, false])
  func switchedLayers(_ stream: Layered, movesMarkers: Bool) throws {
    // The highest layer of each picture that is forwarded. It rises with keyframes only.
    let highest = stream == .all ? [2, 2, 2, 1, 1, 0, 2, 2, 1, 0, 0, 0] : [2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0]
    var (playback, maker) = (VP9Playback(), VP9PictureMaker())
    var sent: [(number: Int, bytes: ByteBuffer)] = []
    var sequence = 0
    for (number, picture) in try pictures(stream.rawValue).enumerated() {
      let layers = Array(picture.frames.prefix(highest[number] + 1))
      maker.setsMarkers = movesMarkers || highest[number] == 2
      for var packet in maker.packets(
        number, layers, isKeyframe: stream.isKeyframe(number),
        describe: { picture, layer, descriptor in
          descriptor.layers = .init(spatial: UInt8(layer), isInterLayerPredicted: layer > 0)
          stream.describe(picture, layer, &descriptor)
        })
      {
        // A server numbers what it forwards.
        packet.sequence = sequence
        sequence += 1
        playback.add(packet)
      }
      var unit = ByteBuffer()
      try #require(VP9Superframe(frames: layers)).write(into: &unit)
      sent.append((number, unit))
    }
    playback.receiver.finish()
    playback.pop()
    let frames = playback.emitted
    #expect(frames.count == 12 && playback.frames.count == 12)
    #expect(frames.map { Int($0.header?.hiddenLayers ?? 0) } == highest)
    let full = stream == .all ? VideoSize(width: 256, height: 144) : VideoSize(width: 1_024, height: 576)
    let sizes = highest.map { VideoSize(width: full.width >> (2 - $0), height: full.height >> (2 - $0)) }
    #expect(frames.map(\.size) == sizes)
    let wanted = try decode(sent, with: "libvpx-vp9")
    #expect(wanted.count == 12 && wanted.values.allSatisfy { $0.count == 1 })
    #expect(Set(wanted.values.compactMap { $0.first?.split(separator: " ").first }).count == 3)
    let emitted = frames.enumerated().map { ($0, $1.payload) }
    #expect(try decode(emitted, with: "vp9") == wanted)
    #expect(try decode(emitted, with: "libvpx-vp9") == wanted)
  }

  @Test("layers of one size are not changed")
  func equalSizes() throws {
    var (playback, maker) = (VP9Playback(), VP9PictureMaker())
    let pictures = try pictures("two-layers-of-one-size")
    for (number, picture) in pictures.enumerated() {
      for packet in maker.packets(number, picture.frames, isKeyframe: number == 0) { playback.add(packet) }
    }
    #expect(playback.emitted.map(\.header?.hiddenLayers) == [0, 0, 0, 0, 0, 0])
    #expect(try playback.emitted.map { try VP9Superframe(parsing: $0.payload) } == pictures)
  }

  @Test(
    "with lost, late and reordered packets, everything that is emitted is decoded as it would be without",
    arguments: Layered.allCases, 1...4 as ClosedRange<UInt64>)
  func losses(_ stream: Layered, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var playback = VP9Playback()
    let damaged = playback.addImpaired(try packets(stream), oneLostIn: 20, using: &generator)
    let emitted = playback.emitted.map { (number: Int($0.timestamp / 3_000), bytes: $0.payload) }
    #expect(emitted.allSatisfy { !damaged.contains($0.number) })
    #expect(Set(emitted.map(\.number)).count == emitted.count)
    let sent = try pictures(stream.rawValue).enumerated().map { number, picture in
      var unit = ByteBuffer()
      picture.write(into: &unit)
      return (number, unit)
    }
    let wanted = try decode(sent, with: "libvpx-vp9")
    let found = try decode(emitted, with: "vp9")
    #expect(found.count == emitted.count)
    #expect(found.allSatisfy { wanted[$0] == $1 })
  }

  @Test("a loss is repaired by a keyframe, and only a real keyframe starts a decoder")
  func keyframes() throws {
    let packets = try packets(.all)
    var playback = VP9Playback()
    for packet in packets where packet.picture > 0 {
      // The third picture is missing entirely.
      if packet.picture != 8 { playback.add(packet) }
      if packet.picture == 5 { #expect(playback.needsKeyframe) }
      if packet.picture == 7 { #expect(!playback.needsKeyframe) }
    }
    #expect(playback.emitted.map { $0.timestamp / 3_000 } == [6, 7])
    #expect(playback.needsKeyframe)
    playback.receiver.restart()
    #expect(playback.needsKeyframe)
  }

  @Test("a payload shows where a keyframe and a picture begin")
  func starts() throws {
    let packets = try packets(.all)
    let keyframe = try #require(packets.first).packet.payload
    #expect(VP9Receiver.keyframeStart(in: keyframe)?.size == VideoSize(width: 64, height: 36))
    #expect(VP9Receiver.startsFrame(keyframe))
    // The scalability structure states the size of the highest layer.
    var rest = keyframe
    var descriptor = try VP9PayloadDescriptor(parsing: &rest)
    descriptor.structure = .init(sizes: [.init(width: 64, height: 36), .init(width: 256, height: 144)])
    var payload = ByteBuffer()
    descriptor.write(into: &payload)
    payload.writeImmutableBuffer(rest)
    #expect(VP9Receiver.keyframeStart(in: payload)?.size == VideoSize(width: 256, height: 144))
    let starts = packets.filter { VP9Receiver.startsFrame($0.packet.payload) }
    #expect(starts.map(\.picture) == Array(0..<12))
    #expect(packets.filter { VP9Receiver.keyframeStart(in: $0.packet.payload) != nil }.map(\.picture) == [0, 6])
    #expect(!VP9Receiver.startsFrame(ByteBuffer()) && VP9Receiver.keyframeStart(in: ByteBuffer()) == nil)
  }

  @Test("what the packetizer sends is received unchanged")
  func packetizer() throws {
    let units = try pictures("two-layers-of-one-size").map { picture in
      var unit = ByteBuffer()
      picture.write(into: &unit)
      return unit
    }
    var receiver = VP9Receiver()
    var received: [ByteBuffer] = []
    for (number, unit) in units.enumerated() {
      let payloads = VP9Packetizer(maximumPayloadSize: 60).packetize(frame: unit, pictureID: UInt16(number))
      for (position, payload) in payloads.enumerated() {
        receiver.add(
          ReceivedPacket(
            payload: payload, timestamp: UInt32(number), marker: position == payloads.count - 1, arrival: .now))
        while let (frame, isDecodable) = receiver.popFrame() {
          #expect(isDecodable)
          received.append(frame.payload)
        }
      }
    }
    #expect(received == units)
  }
}
