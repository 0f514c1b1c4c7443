import Media
import PeerEngine
import RTP
import TestSupport
import Testing

@Suite("Frames that depend on a missing frame, in a session")
struct DecodabilityTests {
  /// Receives frames of which some packets never arrive and cannot be requested.
  private func listen(
    _ stream: LayeredStream, count: Int, first: Int = 0, losing isLost: (_ videoFrame: Int, _ part: Int) -> Bool
  ) -> Listener {
    var media = Negotiated()
    media.nack = false
    var listener = Listener(media: media)
    // Sequence numbers, timestamps and picture ids wrap during the stream.
    var video = PacketMaker.video(sequence: 65_400, timestamp: .max - 300_000)
    for number in first..<first + count {
      let packets = video.videoFrame(number, isKeyframe: stream.isKeyframe(number), packets: 1 + number % 3) {
        $0.pictureID = .init(UInt16((number + 32_700) & 0x7FFF))
        stream.describe(number, &$0)
      }
      for (part, packet) in packets.enumerated() where !isLost(number, part) { listener.receive(packet) }
      listener.run(for: .microseconds(33_333))
    }
    listener.run(for: .seconds(2))
    return listener
  }

  @Test(
    "whatever is lost, no frame is delivered before the frames from which it is predicted",
    arguments: LayeredStream.allCases)
  func safety(stream: LayeredStream) {
    for seed in 1...4 as ClosedRange<UInt64> {
      var generator = SeededGenerator(seed: seed)
      let share = [0.002, 0.01, 0.03, 0.1][Int(seed) % 4]
      let listener = listen(stream, count: 250, first: Int(seed) * 7) { _, _ in
        Double.random(in: 0..<1, using: &generator) < share
      }
      var seen: Set<Int> = []
      for number in listener.numbers(.vp8) {
        #expect(
          stream.references(of: number).allSatisfy(seen.contains), "\(stream) with seed \(seed), frame \(number)")
        #expect(seen.insert(number).inserted)
      }
      #expect(!seen.isEmpty)
    }
  }

  @Test(
    "a lost frame drops itself and the frames predicted from it, and no other",
    arguments: [LayeredStream.plain, .shortIDs, .noIDs, .threeLayers, .threeLayersWithoutIDs], [true, false])
  func oneLoss(stream: LayeredStream, isWhole: Bool) {
    var costs: [Int: Set<Int>] = [:]
    for victim in 40..<48 {
      let listener = listen(stream, count: 80) { videoFrame, part in videoFrame == victim && (isWhole || part == 0) }
      let expected = Set(0..<80).subtracting(stream.dependents(of: victim, count: 80))
      #expect(Set(listener.numbers(.vp8)) == expected, "\(stream), frame \(victim)")
      #expect(listener.session.receiveStatistics[.video]?.packetsLost == (isWhole ? UInt64(1 + victim % 3) : 1))
      costs[stream.layer(of: victim), default: []].insert(80 - listener.numbers(.vp8).count)
    }
    guard stream == .threeLayers else { return }
    // No frame is predicted from one of the highest layer.
    #expect(costs[2] == [1])
    let text = costs.sorted { $0.key < $1.key }.map { "of layer \($0.key) \($0.value.sorted())" }
    print(
      "measured: in three layers with a keyframe every 32 frames, one lost", isWhole ? "whole" : "in part",
      "drops this number of frames:", text.joined(separator: ", "))
  }

  @Test(
    "with two layers, a lost base frame drops all up to the next keyframe, and an upper frame at most its chain")
  func twoLayers() {
    for victim in 40..<56 {
      let stream = LayeredStream.twoLayers
      let listener = listen(stream, count: 80) { videoFrame, _ in videoFrame == victim }
      let dependents = stream.dependents(of: victim, count: 80)
      let missing = Set(0..<80).subtracting(listener.numbers(.vp8))
      #expect(missing.isSuperset(of: dependents))
      // Whether the missing frame was the last of its chain cannot be known.
      #expect(missing.subtracting(dependents).isEmpty || victim % 8 == 7)
      #expect(victim % 2 == 0 || missing.count <= 4)
      #expect(victim % 2 == 1 || missing == Set(victim..<64))
    }
  }

  @Test("a lost keyframe drops all frames up to the next one, which is requested every 500 ms at most")
  func lostKeyframe() {
    for part in [0, 1, 2, 3] {
      var media = Negotiated()
      media.nack = false
      var listener = Listener(media: media)
      var video = PacketMaker.video()
      for number in 0..<150 {
        let packets = video.videoFrame(number, isKeyframe: [0, 30, 120].contains(number), packets: 3)
        for (position, packet) in packets.enumerated() where number != 30 || (part < 3 && position != part) {
          listener.receive(packet)
        }
        listener.run(for: .microseconds(33_333))
      }
      #expect(listener.numbers(.vp8) == Array(0..<30) + Array(120..<150))
      let requests = listener.keyframeRequests
      #expect((4...6).contains(requests.count))
      let pauses = zip(requests, requests.dropFirst()).map { $1 - $0 }
      #expect(pauses.allSatisfy { $0 >= .milliseconds(500) })
      print("measured: \(requests.count) requests until the keyframe arrives, at intervals of \(pauses)")
      listener.run(for: .seconds(3))
      #expect(listener.keyframeRequests.count == requests.count)
    }
  }

  @Test("a sender that stops in the middle of a frame and continues with another SSRC delivers no partial frame")
  func stoppedInMidFrame() {
    var media = Negotiated()
    media.announced = false
    var listener = Listener(media: media)
    var video = PacketMaker.video()
    for number in 0..<10 {
      listener.receive(video.videoFrame(number, isKeyframe: number == 0))
      listener.run(for: .microseconds(33_333))
    }
    listener.receive(Array(video.videoFrame(10, packets: 5).prefix(3)))
    listener.run(for: .seconds(2))
    video.ssrc = 0xBEEF
    video.sequence = 7
    for number in 11..<30 {
      listener.receive(video.videoFrame(number, isKeyframe: number == 15))
      listener.run(for: .microseconds(33_333))
    }
    #expect(listener.numbers(.vp8) == Array(0..<10) + Array(15..<30))
    #expect(listener.gaps(.vp8).first?.gap == MediaGap(.reconnect, framesDropped: 5))
    let times = listener.frames(.vp8).map(\.time.ticks)
    #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
  }
}
