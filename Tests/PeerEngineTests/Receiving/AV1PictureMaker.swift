import Bitstream
import Foundation
import Media
import NIOCore
import PeerEngine
import RTP
import TestSupport
import Testing

/// Makes the packets of AV1 pictures, each with a sequence number, and the dependency descriptors of libwebrtc if wanted.
struct AV1PictureMaker {
  var maximumPart = 400
  var setsMarkers = true
  /// The distances to the frames that a frame refers to, by picture and layer; nil for packets without descriptors. Frames are numbered
  /// with three to a picture.
  var references: ((_ picture: Int, _ layer: Int) -> [Int])?
  /// The temporal layer of a picture, 0 to 2.
  var temporalLayer: (_ picture: Int) -> Int = { _ in 0 }
  private let start = MonotonicInstant.now
  private var sequence = 0

  init(references: ((_ picture: Int, _ layer: Int) -> [Int])? = nil) {
    self.references = references
  }

  /// Returns the packets of one picture.
  ///
  /// - Parameter layers: the frame of each spatial layer that is sent, from the lowest, with its number.
  mutating func packets(_ picture: Int, _ layers: [(layer: Int, frame: ByteBuffer)], isKeyframe: Bool)
    -> [PicturePacket]
  {
    var packets: [PicturePacket] = []
    for (layer, frame) in layers {
      let payloads = AV1Packetizer(maximumPayloadSize: maximumPart).packetize(frame: frame)
      for (position, payload) in payloads.enumerated() {
        let isLast = position == payloads.count - 1
        var packet = ReceivedPacket(
          payload: payload, timestamp: UInt32(picture) &* 3_000,
          marker: isLast && layer == layers.last?.layer && setsMarkers, arrival: start + .milliseconds(picture * 33))
        if let references {
          packet.dependencyDescriptor = Self.descriptor(
            number: picture * 3 + layer, layer: layer, temporalLayer: temporalLayer(picture),
            startsFrame: position == 0, endsFrame: isLast,
            hasStructure: isKeyframe && layer == 0 && position == 0, differences: references(picture, layer))
        }
        packets.append(PicturePacket(sequence: sequence, picture: picture, packet: packet))
        sequence += 1
      }
    }
    return packets
  }

  /// Writes a dependency descriptor (AV1 RTP specification 1.0, A.8.3), with a template for each of three temporal layers of three
  /// spatial layers.
  static func descriptor(
    number: Int, layer: Int, temporalLayer: Int = 0, startsFrame: Bool, endsFrame: Bool, hasStructure: Bool,
    differences: [Int]
  ) -> [UInt8] {
    var bits: [UInt8] = []
    func write(_ value: Int, _ count: Int) {
      for position in (0..<count).reversed() { bits.append(UInt8(value >> position & 1)) }
    }
    write(startsFrame ? 1 : 0, 1)
    write(endsFrame ? 1 : 0, 1)
    write(layer * 3 + temporalLayer, 6)
    write(number & 0xFFFF, 16)
    // A structure, no active decode targets and indications, frame_fdiffs, no chain_fdiffs.
    write(hasStructure ? 1 : 0, 1)
    write(0b0010, 4)
    if hasStructure {
      // template_id_offset, dt_cnt_minus_one, template_layers, indications, differences, chains, resolutions.
      write(0, 6)
      write(2, 5)
      write(0b01_01_10_01_01_10_01_01_11, 18)
      for _ in 0..<27 { write(2, 2) }
      write(0, 9)
      write(0, 2)
      write(0, 1)
    }
    for difference in differences {
      write(difference > 16 ? 2 : 1, 2)
      write(difference - 1, difference > 16 ? 8 : 4)
    }
    write(0, 2)
    while bits.count % 8 != 0 { bits.append(0) }
    return stride(from: 0, to: bits.count, by: 8).map { bits[$0..<$0 + 8].reduce(0) { $0 << 1 | $1 } }
  }
}

typealias AV1Playback = ReceiverPlayback<AV1Receiver>

/// A stream of libaom with three spatial layers in `Fixtures`.
enum AV1Layered: String, CaseIterable, CustomTestStringConvertible {
  /// Each layer is predicted from the one below; keyframes are the pictures 0 and 6.
  case all = "three-spatial-layers"
  /// Only the layers of the keyframe 0 are predicted from each other.
  case key = "three-spatial-layers-key"

  var testDescription: String { rawValue }

  func isKeyframe(_ picture: Int) -> Bool { picture == 0 || self == .all && picture == 6 }

  func references(_ picture: Int, _ layer: Int) -> [Int] {
    if isKeyframe(picture) { return layer == 0 ? [] : [1] }
    return self == .key || layer == 0 ? [3] : [3, 1]
  }

  /// The frames of each picture, from the lowest layer.
  func pictures() throws -> [[ByteBuffer]] {
    var bytes = try Fixture.bytes("av1/\(rawValue).ivf", in: .module)
    bytes.moveReaderIndex(forwardBy: 32)
    var pictures: [[ByteBuffer]] = []
    while let length = bytes.readInteger(endianness: .little, as: UInt32.self),
      let number = bytes.readInteger(endianness: .little, as: UInt64.self)
    {
      let frame = bytes.readSlice(length: Int(length)) ?? ByteBuffer()
      if number == pictures.count { pictures.append([]) }
      pictures[Int(number)].append(frame)
    }
    return pictures
  }

  /// The packets as a server sends them that leaves out layers.
  ///
  /// - Parameter layers: how many layers it sends of a picture.
  func packets(
    _ maker: AV1PictureMaker, layers: (_ picture: Int) -> Int = { _ in 3 }
  ) throws -> [PicturePacket] {
    var maker = maker
    return try pictures().enumerated().flatMap { number, frames in
      maker.packets(
        number, Array(frames.prefix(layers(number)).enumerated().map { ($0, $1) }), isKeyframe: isKeyframe(number))
    }
  }

  /// Temporal units of a stream without layers, which ffmpeg encodes.
  static func singleLayer() throws -> [ByteBuffer] {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).ivf")
    defer { try? FileManager.default.removeItem(at: path) }
    let result = try ExternalTool.run(
      "ffmpeg",
      ["-v", "error", "-f", "lavfi", "-i", "testsrc2=size=128x72:rate=10", "-frames:v", "5", "-c:v", "libaom-av1"]
        + ["-usage", "realtime", "-cpu-used", "8", path.path])
    #expect(result.errors == "")
    var (bytes, units) = (ByteBuffer(bytes: try Data(contentsOf: path)), [ByteBuffer]())
    bytes.moveReaderIndex(forwardBy: 32)
    while let length = bytes.readInteger(endianness: .little, as: UInt32.self),
      bytes.readInteger(as: UInt64.self) != nil,
      let stored = bytes.readSlice(length: Int(length))
    {
      var unit = ByteBuffer()
      for obu in AV1OBUs(stored) where obu.type.isKept { obu.write(into: &unit) }
      units.append(unit)
    }
    return units
  }

  /// Decodes temporal units with FFmpeg, and returns the size and MD5 sum of each image by the number of the picture.
  static func decode(
    _ units: [(number: Int, bytes: ByteBuffer)], with decoder: String = "libdav1d"
  ) throws -> [Int: [String]] {
    var file = ByteBuffer(string: "DKIF")
    file.writeMultipleIntegers(UInt16(0), UInt16(32), endianness: .little)
    file.writeString("AV01")
    file.writeMultipleIntegers(
      UInt16(256), UInt16(144), UInt32(30), UInt32(1), UInt32(units.count), UInt32(0), endianness: .little)
    for unit in units {
      file.writeMultipleIntegers(UInt32(unit.bytes.readableBytes), UInt64(unit.number), endianness: .little)
      file.writeImmutableBuffer(unit.bytes)
    }
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).ivf")
    defer { try? FileManager.default.removeItem(at: path) }
    try Data(file.readableBytesView).write(to: path)
    let result = try ExternalTool.run(
      "ffmpeg",
      // With several threads, dav1d loses pictures where layers begin.
      ["-v", "error", "-threads", "1", "-c:v", decoder, "-i", path.path, "-autoscale", "0", "-fps_mode", "passthrough"]
        + ["-f", "framemd5", "-"])
    #expect(result.errors == "")
    var images: [Int: [String]] = [:]
    for line in result.output.split(separator: "\n") where !line.hasPrefix("#") {
      let fields = line.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
      images[Int(fields[2]) ?? -1, default: []].append("\(fields[4]) \(fields[5])")
    }
    return images
  }
}
