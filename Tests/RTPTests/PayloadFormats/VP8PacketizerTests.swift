import NIOCore
import RTP
import TestSupport
import Testing

@Suite("VP8 packetizer")
struct VP8PacketizerTests {
  private let descriptor = VP8PayloadDescriptor(startsPartition: true, pictureID: .init(77))

  @Test(
    "the payloads together are the frame, and only the first begins it",
    arguments: [
      1, 2, 95, 96, 97, 192, 193, 1_000, 9_999, 100_000,
    ])
  func reassembly(size: Int) throws {
    var generator = SeededGenerator(seed: UInt64(size))
    let frame = ByteBuffer(bytes: (0..<size).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    let payloads = VP8Packetizer(maximumPayloadSize: 100).packetize(frame: frame, descriptor: descriptor)
    #expect(payloads.count == (size + 95) / 96)
    var whole = ByteBuffer()
    for (index, var payload) in payloads.enumerated() {
      #expect(payload.readableBytes <= 100)
      let read = try VP8PayloadDescriptor(parsing: &payload)
      #expect(read.startsFrame == (index == 0))
      #expect(read.partitionIndex == 0)
      #expect(read.pictureID == descriptor.pictureID)
      whole.writeBuffer(&payload)
    }
    #expect(whole == frame)
    let sizes = payloads.map(\.readableBytes)
    #expect((sizes.max() ?? 0) - (sizes.min() ?? 0) <= 1)
  }

  @Test("an empty frame has no payloads")
  func empty() {
    #expect(VP8Packetizer(maximumPayloadSize: 100).packetize(frame: ByteBuffer(), descriptor: descriptor).isEmpty)
  }

  @Test("a payload size that is too small is raised to 16 bytes")
  func tiny() {
    let packetizer = VP8Packetizer(maximumPayloadSize: -5)
    #expect(packetizer.maximumPayloadSize == 16)
    #expect(packetizer.packetize(frame: ByteBuffer(repeating: 1, count: 24), descriptor: descriptor).count == 2)
  }
}
