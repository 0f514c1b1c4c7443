import NIOCore
import RTP
import TestSupport
import Testing

@Suite("VP9 packetizer")
struct VP9PacketizerTests {
  /// A keyframe of 160x90 up to its size, and an inter frame.
  private let keyframe = bytes("82 498342 2009F0059000")
  private let delta = bytes("86 00 40 00")

  private func descriptors(_ payloads: [ByteBuffer]) throws -> [VP9PayloadDescriptor] {
    try payloads.map { payload in
      var payload = payload
      return try VP9PayloadDescriptor(parsing: &payload)
    }
  }

  @Test(
    "the payloads together are the frame, the first begins it and the last ends it",
    arguments: [1, 2, 96, 97, 98, 193, 194, 195, 1_000, 9_999, 100_000])
  func reassembly(size: Int) throws {
    var generator = SeededGenerator(seed: UInt64(size))
    let frame = ByteBuffer(bytes: (0..<size).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    let payloads = VP9Packetizer(maximumPayloadSize: 100).packetize(frame: frame, pictureID: 77)
    #expect(payloads.count == (size + 96) / 97)
    var whole = ByteBuffer()
    for (index, var payload) in payloads.enumerated() {
      #expect(payload.readableBytes <= 100)
      let read = try VP9PayloadDescriptor(parsing: &payload)
      #expect(read.startsFrame == (index == 0) && read.endsFrame == (index == payloads.count - 1))
      #expect(read.pictureID == .init(77) && read.mode == .nonFlexible(baseLayerIndex: nil) && read.layers == nil)
      whole.writeBuffer(&payload)
    }
    #expect(whole == frame)
    let sizes = payloads.map(\.readableBytes)
    #expect((sizes.max() ?? 0) - (sizes.min() ?? 0) <= 1)
  }

  @Test("the first payload of a keyframe states the size, and only keyframes are not predicted")
  func keyframes() throws {
    var frame = keyframe
    frame.writeRepeatingByte(1, count: 200)
    let packetizer = VP9Packetizer(maximumPayloadSize: 100)
    let payloads = packetizer.packetize(frame: frame, pictureID: 0x8001)
    #expect(payloads.allSatisfy { $0.readableBytes <= 100 })
    let parts = try descriptors(payloads)
    #expect(parts.map(\.structure) == [VP9ScalabilityStructure(sizes: [.init(width: 160, height: 90)]), nil, nil])
    #expect(parts.allSatisfy { !$0.isInterPicturePredicted && $0.pictureID?.value == 1 })
    let inter = try descriptors(packetizer.packetize(frame: delta, pictureID: 2))
    #expect(inter.map(\.isInterPicturePredicted) == [true])
    #expect(inter.map(\.structure) == [nil])
  }

  @Test("an empty frame has no payloads")
  func empty() {
    #expect(VP9Packetizer(maximumPayloadSize: 100).packetize(frame: ByteBuffer(), pictureID: 0).isEmpty)
  }

  @Test("a payload size that is too small is raised to 32 bytes")
  func tiny() {
    let packetizer = VP9Packetizer(maximumPayloadSize: -5)
    #expect(packetizer.maximumPayloadSize == 32)
    #expect(packetizer.packetize(frame: ByteBuffer(repeating: 1, count: 58), pictureID: 0).count == 2)
  }
}
