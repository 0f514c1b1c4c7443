import Media
import PeerEngine
import RTP
import Testing

@Suite("The orientation of received video")
struct ReceivedOrientationTests {
  /// Which packets of the frames state an orientation; nil for frames that state none.
  private static let stated: [VideoOrientationElement?] = [
    nil, nil, .init(quarterTurns: 1), nil, .init(quarterTurns: 1, isBackFacing: true), .init(quarterTurns: 0),
    .init(quarterTurns: 2, isFlipped: true), nil,
  ]
  private static let expected = [0, 0, 90, 90, 90, 0, 180, 180]

  /// - Parameter adjust: changes the packets of a frame.
  private func frames(
    id: UInt8? = 13, packets count: Int = 3, adjust: (Int, inout [RTPPacket]) -> Void = { _, _ in }
  ) -> [EncodedFrame] {
    var negotiated = Negotiated()
    negotiated.videoOrientation = id
    var listener = Listener(media: negotiated)
    var maker = PacketMaker.video()
    for (number, element) in Self.stated.enumerated() {
      var packets = maker.videoFrame(number, isKeyframe: number == 0, packets: count)
      packets[packets.count - 1].extensions.setVideoOrientation(element, 13)
      adjust(number, &packets)
      listener.receive(packets)
    }
    listener.run(for: .seconds(5))
    listener.close()
    return listener.frames(.vp8)
  }

  @Test("it is that of the last packet that states one, in whatever number of packets", arguments: [1, 3])
  func kept(packets: Int) {
    let frames = frames(packets: packets)
    #expect(frames.map(\.orientation.rotation) == Self.expected)
    #expect(frames.map(\.orientation.isMirrored) == Self.expected.map { $0 == 180 })
  }

  @Test("packets that arrive in another order state the orientation of their frame")
  func reordered() {
    let frames = frames { number, packets in if number > 0 { packets.reverse() } }
    #expect(frames.map(\.orientation.rotation) == Self.expected)
  }

  @Test("what was not negotiated is not read")
  func notNegotiated() {
    #expect(frames(id: nil).allSatisfy { $0.orientation == .upright })
    #expect(frames(id: 14).allSatisfy { $0.orientation == .upright })
  }
}
