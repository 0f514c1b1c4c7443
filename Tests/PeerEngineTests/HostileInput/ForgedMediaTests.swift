import Foundation
import ICE
import Media
import NIOCore
import PeerEngine
import PeerEngineTestSupport
import RTP
import TestSupport
import Testing

@Suite("Forged and replayed media")
struct ForgedMediaTests {
  /// The number of packets of each kind; 250,000 in a soak test, which makes a million in all.
  static let count = ProcessInfo.processInfo.environment["CHATBOT_SOAK"] == nil ? 25_000 : 250_000

  private func scene() throws -> (mallory: ScriptedPeer, anna: HonestParticipant) {
    let call = DemultiplexerCall(seed: 61)
    let anna = try HonestParticipant(in: call)
    return (try ScriptedPeer(in: call), anna)
  }

  @Test("unencrypted RTP and RTCP is refused, from the participant's own address and from others")
  func plain() throws {
    let (mallory, anna) = try scene()
    let stranger = TransportAddress(ip: .v4(0x0A00_0063), port: 6_666)
    for number in 0..<200 {
      for packet in mallory.videoFrame(number, isKeyframe: true).packets {
        var datagram = ByteBuffer()
        packet.write(into: &datagram)
        mallory.sendRaw(datagram)
        mallory.call.datagram(datagram, from: stranger)
      }
      var report = ByteBuffer()
      RTCPPacket.write([.goodbye(Goodbye(sources: [1, 2, 3]))], into: &report)
      mallory.sendRaw(report)
      mallory.call.datagram(report, from: stranger)
      if number % 10 == 0 { mallory.call.run(for: .milliseconds(33)) }
    }
    #expect(mallory.videoFrames.count == 0)
    #expect(mallory.engine?.statistics.datagramsRefused == 800)
    let sent = mallory.sendVideoFrame(1_000, isKeyframe: true)
    mallory.call.run(for: .seconds(1))
    #expect(mallory.videoFrames == [sent])
    #expect(mallory.call.stray.datagrams == 0)
    anna.expectUnharmed()
  }

  @Test("forged and replayed packets in great numbers deliver no frame and do not affect the valid ones between them")
  func forgedAndReplayed() throws {
    let (mallory, anna) = try scene()
    let began = ContinuousClock.now
    var generator = SeededGenerator(seed: 9)
    var sent: [ByteBuffer] = []
    var newest: [ByteBuffer] = []
    var bad = 0
    var template = mallory.packet(.video, ByteBuffer(repeating: 0x5A, count: 60), timestamp: 0)
    // Between two frames: 1,000 packets of each kind.
    for number in 0..<Self.count / 1_000 {
      for _ in 0..<1_000 {
        // A replayed packet.
        if let old = newest.randomElement(using: &generator) { mallory.sendRaw(old) }
        // A replayed packet with one bit changed.
        if var changed = newest.randomElement(using: &generator) {
          let index = changed.readerIndex + Int.random(in: 2..<changed.readableBytes, using: &generator)
          changed.setInteger((changed.getInteger(at: index, as: UInt8.self) ?? 0) ^ 0x01, at: index)
          mallory.sendRaw(changed)
        }
        // A forged packet that looks like the next one of the real source, and one with another SSRC.
        var noise = ByteBuffer()
        template.sequenceNumber = .random(in: 0...65_535, using: &generator)
        template.write(into: &noise)
        mallory.sendRaw(noise)
        noise.setInteger(UInt32.random(in: 0 ... .max, using: &generator), at: 8)
        mallory.sendRaw(noise)
        bad += newest.isEmpty ? 2 : 4
      }
      let made = mallory.videoFrame(number, isKeyframe: number == 0, packets: 2)
      newest = made.packets.map(mallory.protected)
      for datagram in newest { mallory.sendRaw(datagram) }
      sent.append(made.frame)
      mallory.call.run(for: .milliseconds(33))
    }
    mallory.call.run(for: .seconds(4))
    print("measured: \(bad) forged and replayed packets within \(ContinuousClock.now - began)")
    expectSame(mallory.videoFrames, sent)
    #expect(mallory.engine?.statistics.datagramsRefused == UInt64(bad))
    #expect(mallory.engine?.state == .connected)
    anna.expectUnharmed()
  }
}
