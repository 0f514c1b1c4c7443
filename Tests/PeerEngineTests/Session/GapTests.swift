import Media
import NIOCore
import NetworkEmulation
import PeerEngine
import RTP
import TestSupport
import Testing

@Suite("Gaps and their reasons in a session")
struct GapTests {
  private var silentAboutLoss: Negotiated {
    var media = Negotiated()
    media.nack = false
    return media
  }

  /// Plays 20 frames, of which the first and those in `keyframes` are keyframes.
  private func listen(
    _ media: Negotiated, keyframes: Set<Int> = [], describe: (Int, inout VP8PayloadDescriptor) -> Void = { _, _ in },
    losing isLost: (_ videoFrame: Int, _ part: Int) -> Bool,
    changing change: (_ videoFrame: Int, inout [RTPPacket]) -> Void = { _, _ in }
  ) -> Listener {
    var listener = Listener(media: media)
    var video = PacketMaker.video()
    for number in 0..<20 {
      var packets = video.videoFrame(number, isKeyframe: number == 0 || keyframes.contains(number)) {
        describe(number, &$0)
      }
      let count = packets.count
      change(number, &packets)
      // Packets that the sender discarded before sending never had a sequence number.
      video.sequence &-= UInt16(count - packets.count)
      for (part, packet) in packets.enumerated() where !isLost(number, part) { listener.receive(packet) }
      listener.run(for: .microseconds(33_333))
    }
    listener.run(for: .seconds(4))
    return listener
  }

  @Test("a stream without loss has no gap")
  func none() {
    let listener = listen(Negotiated()) { _, _ in false }
    #expect(listener.numbers(.vp8) == Array(0..<20))
    #expect(listener.gaps(.vp8).isEmpty)
  }

  @Test("lost audio packets are reported as a gap of the next packet that arrives")
  func lostAudio() throws {
    var listener = Listener()
    var audio = PacketMaker.audio()
    for number in 0..<50 {
      let packet = audio.audio(number)
      if !(10..<13).contains(number), number != 30 { listener.receive(packet) }
      listener.run(for: .milliseconds(20))
    }
    listener.run(for: .seconds(1))
    let gaps = listener.gaps(.opus)
    #expect(gaps.map(\.before) == [13, 31])
    #expect(gaps.map(\.gap.reason) == [.lost, .lost])
    #expect(gaps.map(\.gap.packetsLost) == [3, 1])
    #expect(gaps.map(\.gap.framesDropped) == [0, 0])
    // Each was waited for during 400 ms after the arrival of the next packet.
    #expect(gaps.map(\.gap.delay) == [.milliseconds(400), .milliseconds(400)])
  }

  @Test("a frame before a keyframe is reported as lost whether all or only some of its packets are missing")
  func lostVideoFrame() {
    var listener = listen(silentAboutLoss, keyframes: [6]) { videoFrame, _ in videoFrame == 5 }
    var gaps = listener.gaps(.vp8)
    #expect(gaps.map(\.before) == [6])
    #expect(gaps.first?.gap.reason == .lost)
    #expect(gaps.first?.gap.packetsLost == 3 && gaps.first?.gap.framesDropped == 0)
    listener = listen(silentAboutLoss, keyframes: [6]) { videoFrame, part in videoFrame == 5 && part == 1 }
    gaps = listener.gaps(.vp8)
    #expect(gaps.map(\.before) == [6])
    #expect(gaps.first?.gap.reason == .lost)
    #expect(gaps.first?.gap.packetsLost == 1 && gaps.first?.gap.framesDropped == 1)
  }

  @Test("complete frames skipped after a loss are reported as waiting for a keyframe, together with the lost packets")
  func waitingForKeyframe() {
    let listener = listen(silentAboutLoss, keyframes: [12]) { videoFrame, part in videoFrame == 5 && part == 1 }
    #expect(listener.numbers(.vp8) == Array(0..<5) + Array(12..<20))
    let gaps = listener.gaps(.vp8)
    #expect(gaps.map(\.before) == [12])
    #expect(gaps.first?.gap == MediaGap(.waitingForKeyframe, packetsLost: 1, framesDropped: 7))
  }

  @Test("a frame whose end was discarded by its sender for a keyframe is dropped, and the gap says so")
  func abandoned() {
    let listener = listen(Negotiated(), keyframes: [8]) { _, _ in
      false
    } changing: { videoFrame, packets in
      // As libwebrtc's pacer does: packets discarded from its queue were never sent and never had a sequence number.
      guard videoFrame == 7 else { return }
      packets.removeLast()
    }
    #expect(listener.numbers(.vp8) == (0..<20).filter { $0 != 7 })
    #expect(listener.gaps(.vp8).map(\.before) == [8])
    #expect(listener.gaps(.vp8).first?.gap == MediaGap(.senderDiscarded, framesDropped: 1))
    let counts = listener.session.receiveStatistics[.video]
    #expect(counts?.framesDropped == 1 && counts?.frames == 19 && counts?.packetsLost == 0)
    #expect(counts?.packetsExpected == 59 && counts?.packetsReceived == 59)
    // The keyframe followed at once, so neither a keyframe nor a packet was requested.
    #expect(counts?.keyframeRequests == 0 && counts?.packetsRequested == 0)
  }

  @Test("a frame that the end of the call cuts off is neither lost nor dropped, unless a part of it is missing")
  func cutOff() throws {
    for isBye in [false, true] {
      for isLost in [false, true] {
        var listener = Listener(media: silentAboutLoss)
        var video = PacketMaker.video()
        for number in 0..<5 { listener.receive(video.videoFrame(number, isKeyframe: number == 0)) }
        var packets = video.videoFrame(5, isKeyframe: false)
        packets.removeLast()
        if isLost {
          // The end of this frame is lost, and the next one is cut off.
          packets = [packets[0]] + video.videoFrame(6, isKeyframe: false).dropLast()
        }
        listener.receive(packets)
        if isBye {
          var bye = ByteBuffer()
          let source = Negotiated.aliceVideo
          RTCPPacket.write(
            [.receiverReport(ReceiverReport(ssrc: source)), .goodbye(Goodbye(sources: [source]))], into: &bye)
          listener.receiveControl(Array(bye.readableBytesView))
        }
        listener.close()
        let counts = try #require(listener.session.receiveStatistics[.video])
        #expect(counts.frames == 5)
        #expect(counts.framesDropped == (isLost ? 1 : 0), "\(isBye)")
        #expect((counts.packetsLost > 0) == isLost)
      }
    }
  }

  @Test(
    "without marker bits no frame is lost, and the first frame only waits for the end of the second")
  func withoutMarkers() {
    let listener = listen(Negotiated()) { _, _ in
      false
    } changing: { _, packets in
      for position in packets.indices { packets[position].marker = false }
    }
    // The last frame has no visible end.
    #expect(listener.numbers(.vp8) == Array(0..<19))
    #expect(listener.gaps(.vp8).isEmpty)
    #expect(listener.session.receiveStatistics[.video]?.framesDropped == 0)
    #expect(listener.keyframeRequests.isEmpty)
  }

  @Test("a track that begins without a keyframe is reported as waiting for one")
  func lateBeginning() {
    let listener = listen(silentAboutLoss, keyframes: [4]) { videoFrame, _ in videoFrame == 0 }
    #expect(listener.numbers(.vp8) == Array(4..<20))
    #expect(listener.gaps(.vp8).first?.gap == MediaGap(.waitingForKeyframe, framesDropped: 3))
  }

  @Test("of a stream with temporal layers, one lost frame of the highest layer is reported as lost, and no other")
  func lostLayer() {
    let listener = listen(silentAboutLoss) { number, descriptor in
      descriptor.baseLayerIndex = UInt8(number / 2)
      descriptor.temporalLayer = .init(index: UInt8(number % 2), isLayerSync: number % 2 == 1)
    } losing: { videoFrame, _ in
      videoFrame == 7
    }
    #expect(listener.numbers(.vp8) == (0..<20).filter { $0 != 7 })
    let gaps = listener.gaps(.vp8)
    #expect(gaps.map(\.before) == [8])
    #expect(gaps.first?.gap.reason == .lost)
    #expect(gaps.first?.gap.packetsLost == 3 && gaps.first?.gap.framesDropped == 0)
  }

  @Test(
    "a packet recovered after 250 ms or more marks the waiting frame as late, and one recovered sooner does not",
    arguments: [240, 260, 900])
  func recoveredLate(milliseconds: Int) throws {
    var listener = Listener()
    var video = PacketMaker.video()
    var withheld: RTPPacket?
    var due: MonotonicInstant?
    for number in 0..<60 {
      var packets = video.videoFrame(number, isKeyframe: number == 0)
      if number == 10 { withheld = packets.remove(at: 1) }
      listener.receive(packets)
      if number == 10 { due = listener.now + .milliseconds(milliseconds) }
      let next = listener.now + .microseconds(33_333)
      if let instant = due, instant <= next, let packet = withheld {
        listener.run(until: instant)
        listener.receive(packet)
        due = nil
      }
      listener.run(until: next)
    }
    #expect(listener.numbers(.vp8) == Array(0..<60))
    let gaps = listener.gaps(.vp8)
    if milliseconds < 250 {
      #expect(gaps.isEmpty)
    } else {
      #expect(gaps.map(\.before) == [10])
      #expect(gaps.first?.gap == MediaGap(.recoveredLate, delay: .milliseconds(milliseconds)))
    }
  }

  @Test(
    "skipped silence next to a packet of at most two bytes, before or after it, is reported as DTX",
    arguments: [true, false])
  func discontinuous(before: Bool) {
    var listener = Listener()
    var audio = PacketMaker.audio()
    for number in 0..<30 {
      // As Chromium does: the first silent packet is sent, and those of the next 400 ms are not.
      let isSilent = number == (before ? 9 : 10)
      listener.receive(isSilent ? audio.audio(payload: ByteBuffer(bytes: [0xF8])) : audio.audio(number))
      listener.run(for: .milliseconds(20))
      if number == 9 {
        audio.timestamp &+= 18 * 960
        listener.run(for: .milliseconds(360))
      }
    }
    let gaps = listener.frames(.opus).enumerated().compactMap { position, frame in frame.gap.map { (position, $0) } }
    #expect(gaps.map(\.0) == [10])
    #expect(gaps.map(\.1) == [MediaGap(.dtx)])
  }

  @Test("media time skipped without a silent packet or a missing sequence number is reported as a pause of the sender")
  func pausedAudio() {
    var listener = Listener()
    var audio = PacketMaker.audio()
    for number in 0..<30 {
      listener.receive(audio.audio(number))
      listener.run(for: .milliseconds(20))
      // A jump of 40 ms is a clock correction; one of 5 s is a pause.
      if number == 5 { audio.timestamp &+= 2 * 960 }
      if number == 9 {
        audio.timestamp &+= 5 * 48_000
        listener.run(for: .seconds(5))
      }
    }
    #expect(listener.gaps(.opus).map(\.before) == [10])
    #expect(listener.gaps(.opus).first?.gap == MediaGap(.senderPaused))
  }

  @Test("a pause of video is reported when more than a second of media time is skipped", arguments: [0.9, 1.1])
  func pausedVideo(seconds: Double) {
    var listener = Listener()
    var video = PacketMaker.video()
    for number in 0..<20 {
      listener.receive(video.videoFrame(number, isKeyframe: number == 0))
      listener.run(for: .microseconds(33_333))
      if number == 9 {
        video.timestamp &+= UInt32(seconds * 90_000)
        listener.run(for: .seconds(seconds))
      }
    }
    #expect(listener.gaps(.vp8).map(\.before) == (seconds > 1 ? [10] : []))
    #expect(listener.gaps(.vp8).allSatisfy { $0.gap == MediaGap(.senderPaused) })
  }

  @Test("a sender whose timestamps stop during a pause has paused too, but a congested path is not a pause")
  func standstill() {
    var listener = Listener()
    var video = PacketMaker.video()
    for number in 0..<40 {
      listener.receive(video.videoFrame(number, isKeyframe: number == 0))
      if number == 9 { listener.run(for: .seconds(8)) }
      // Two seconds of frames were queued in the network and arrive together.
      if number == 19 { listener.run(for: .seconds(2)) }
      if !(20..<39).contains(number) { listener.run(for: .microseconds(33_333)) }
    }
    #expect(listener.gaps(.vp8).map(\.before) == [10])
    #expect(listener.gaps(.vp8).first?.gap == MediaGap(.senderPaused))
  }

  @Test("a section that was turned off and on again is reported as muted", arguments: [Codec.opus, .vp8])
  func muted(codec: Codec) {
    var listener = Listener()
    var video = PacketMaker.video()
    var audio = PacketMaker.audio()
    for number in 0..<20 {
      listener.receive(codec == .vp8 ? video.videoFrame(number, isKeyframe: number % 10 == 0) : [audio.audio(number)])
      listener.run(for: .milliseconds(20))
      if number == 9 {
        var off = Negotiated().bob
        for position in off.indices where off[position].codec == codec { off[position].receives = false }
        listener.session.configure(off, now: listener.now)
        listener.run(for: .seconds(3))
        listener.session.configure(Negotiated().bob, now: listener.now)
        video.timestamp &+= 3 * 90_000
        audio.timestamp &+= 3 * 48_000
      }
    }
    #expect(listener.gaps(codec).map(\.before) == [10])
    #expect(listener.gaps(codec).first?.gap == MediaGap(.muted))
    #expect(listener.numbers(codec) == Array(0..<20))
  }

  @Test(
    "frames that arrive after the sender has said that it stops are not the end of its pause", arguments: [1, 2, 5])
  func mutedOnTheWay(late: Int) {
    let start = MonotonicInstant.now
    var gaps = GapClassifier(kind: .video)
    func gap(_ milliseconds: Int) -> MediaGap? {
      let arrival = start + .milliseconds(milliseconds)
      let time = MediaTime(ticks: Int64(milliseconds) * 90, rate: 90_000)
      return gaps.gap(before: .init(time: time, duration: 3_000, isSilence: false, arrival: arrival), now: arrival)
    }
    for number in 0..<10 { #expect(gap(number * 33) == nil) }
    gaps.wasMuted(now: start + .milliseconds(9 * 33 + 1))
    for number in 10..<10 + late { #expect(gap(number * 33) == nil) }
    let resumed = gap(2_500)
    #expect(resumed == MediaGap(.muted))
    #expect(gap(2_533) == nil)
  }

  @Test("a new SSRC and restarted sequence numbers are both reported as a reconnect", arguments: [true, false])
  func newSource(changesSSRC: Bool) {
    var media = Negotiated()
    media.announced = false
    var listener = Listener(media: media)
    var video = PacketMaker.video()
    for number in 0..<20 {
      if number == 10 {
        if changesSSRC { video.ssrc = 0xCAFE } else { video.sequence &+= 20_000 }
      }
      listener.receive(video.videoFrame(number, isKeyframe: number % 10 == 0))
      listener.run(for: .microseconds(33_333))
    }
    #expect(listener.numbers(.vp8) == Array(0..<20))
    #expect(listener.gaps(.vp8).map(\.before) == [10])
    #expect(listener.gaps(.vp8).first?.gap == MediaGap(.reconnect))
  }

  @Test("packets lost during a detected interruption are reported as a reconnect, and the next loss as a loss")
  func brokenConnection() {
    var listener = Listener()
    var audio = PacketMaker.audio()
    for number in 0..<300 {
      let packet = audio.audio(number)
      if number == 60 { listener.session.connectionWasInterrupted(now: listener.now) }
      if !(50..<100).contains(number), number != 200 { listener.receive(packet) }
      listener.run(for: .milliseconds(20))
    }
    let gaps = listener.gaps(.opus)
    #expect(gaps.map(\.before) == [100, 201])
    #expect(gaps.map(\.gap.reason) == [.reconnect, .lost])
    #expect(gaps.map(\.gap.packetsLost) == [50, 1])
  }

  @Test("a pause during a detected interruption is reported as a reconnect, not as a pause of the sender")
  func brokenWithoutLoss() {
    var listener = Listener()
    var audio = PacketMaker.audio()
    for number in 0..<100 {
      listener.receive(audio.audio(number))
      listener.run(for: .milliseconds(20))
      if number == 49 {
        listener.run(for: .seconds(5))
        listener.session.connectionWasInterrupted(now: listener.now)
        listener.run(for: .seconds(5))
        audio.timestamp &+= 10 * 48_000
      }
    }
    #expect(listener.gaps(.opus).map(\.before) == [50])
    #expect(listener.gaps(.opus).first?.gap == MediaGap(.reconnect))
  }

  @Test("an interruption without loss does not change the reason of a later loss")
  func harmlessInterruption() {
    var listener = Listener()
    var audio = PacketMaker.audio()
    for number in 0..<700 {
      let packet = audio.audio(number)
      if number == 20 { listener.session.connectionWasInterrupted(now: listener.now) }
      if number != 600 { listener.receive(packet) }
      listener.run(for: .milliseconds(20))
    }
    #expect(listener.gaps(.opus).map(\.before) == [601])
    #expect(listener.gaps(.opus).first?.gap.reason == .lost)
  }

  @Test("the packets reported by gaps add up to those in the statistics", arguments: [1, 2, 3] as [UInt64])
  func sum(seed: UInt64) throws {
    var call = SessionCall(
      seed: seed, toBob: .init(loss: 0.05, delay: .milliseconds(25)), media: silentAboutLoss)
    call.source?.keyframeEvery = 60
    call.run(for: .seconds(10))
    call.toBob.conditions.loss = 0
    call.run(for: .seconds(3))
    for (codec, kind) in [(Codec.opus, MediaKind.audio), (.vp8, .video)] {
      let counts = try #require(call.bob.session.receiveStatistics[kind])
      let gaps = call.bob.frames(codec).compactMap(\.gap)
      #expect(counts.packetsLost > 0)
      #expect(gaps.map(\.packetsLost).reduce(0, +) == Int(counts.packetsLost))
      #expect(gaps.map(\.framesDropped).reduce(0, +) == Int(counts.framesDropped))
    }
  }
}
