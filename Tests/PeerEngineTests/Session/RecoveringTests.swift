import Media
import NetworkEmulation
import PeerEngine
import RTP
import TestSupport
import Testing

@Suite("Notice that a track's next frame is late, in a session")
struct RecoveringTests {
  private enum Step: Equatable {
    case frame(Int)
    case recovering
  }

  /// Returns the frames and notices of one track in order.
  private func steps(_ events: [MediaEvent], _ codec: Codec) -> [Step] {
    events.compactMap { event in
      switch event {
      case .frame(let frame) where frame.codec == codec: SyntheticSource.number(of: frame).map(Step.frame)
      case .recovering(let track) where track.kind == codec.kind: .recovering
      default: nil
      }
    }
  }

  /// Returns frames in order, with a notice before some of them.
  private func frames(_ numbers: Range<Int>, tellingBefore reported: Set<Int> = []) -> [Step] {
    numbers.flatMap { reported.contains($0) ? [.recovering, .frame($0)] : [.frame($0)] }
  }

  /// Receives 40 frames, of which single packets arrive late or never.
  private func listen(late: [Int: Duration], never: Set<Int> = [], keyframes: Set<Int> = [0]) -> Listener {
    var listener = Listener()
    var video = PacketMaker.video()
    var withheld: [(due: MonotonicInstant, packet: RTPPacket)] = []
    for number in 0..<40 {
      var packets = video.videoFrame(number, isKeyframe: keyframes.contains(number))
      if let delay = late[number] { withheld.append((listener.now + delay, packets.remove(at: 1))) }
      if never.contains(number) { packets.remove(at: 1) }
      listener.receive(packets)
      let next = listener.now + .microseconds(33_333)
      while let position = withheld.firstIndex(where: { $0.due <= next }) {
        let (due, packet) = withheld.remove(at: position)
        listener.run(until: due)
        listener.receive(packet)
      }
      listener.run(until: next)
    }
    listener.run(for: .seconds(4))
    return listener
  }

  @Test(
    "a gap filled in less than 100 ms is not reported, and a longer one is reported once, before the frame that ends it",
    arguments: [90, 110, 400])
  func once(milliseconds: Int) {
    // The gap is detected at once, because the frame's last packet arrives.
    let listener = listen(late: [10: .milliseconds(milliseconds)])
    #expect(steps(listener.events, .vp8) == frames(0..<40, tellingBefore: milliseconds < 100 ? [] : [10]))
  }

  @Test("a gap is reported when it is 100 ms old, whether packets arrive or not")
  func moment() throws {
    var listener = Listener()
    var video = PacketMaker.video()
    var packets = video.videoFrame(0, isKeyframe: true)
    listener.receive(packets)
    packets = video.videoFrame(1)
    let withheld = packets.remove(at: 1)
    listener.receive(packets)
    let missed = listener.now
    listener.run(until: missed + .milliseconds(99))
    #expect(!listener.events.contains { $0.isRecovering(.video) })
    listener.run(until: missed + .milliseconds(100))
    #expect(listener.events.count { $0.isRecovering(.video) } == 1)
    listener.run(until: missed + .milliseconds(700))
    #expect(listener.events.count { $0.isRecovering(.video) } == 1)
    listener.receive(withheld)
    #expect(listener.numbers(.vp8) == [0, 1])
  }

  @Test("each gap is reported, also one that already existed when the one before it was filled")
  func each() {
    let listener = listen(
      late: [5: .milliseconds(150), 20: .milliseconds(300), 21: .milliseconds(500), 30: .milliseconds(50)])
    #expect(steps(listener.events, .vp8) == frames(0..<40, tellingBefore: [5, 20, 21]))
  }

  @Test("a gap that is given up is reported once")
  func givenUp() {
    let listener = listen(late: [:], never: [10], keyframes: [0, 30])
    #expect(steps(listener.events, .vp8) == frames(0..<10) + frames(30..<40, tellingBefore: [30]))
  }

  @Test("the next gap is reported again, although no frame was delivered since the last one was given up")
  func next() {
    var listener = Listener()
    var video = PacketMaker.video()
    for number in 0..<20 {
      var packets = video.videoFrame(number, isKeyframe: number == 0)
      let isDamaged = number == 5 || number == 15
      let withheld = isDamaged ? packets.remove(at: 1) : nil
      listener.receive(packets)
      listener.run(for: number == 5 ? .seconds(4) : .milliseconds(200))
      if number == 15, let withheld { listener.receive(withheld) }
    }
    #expect(steps(listener.events, .vp8) == frames(0..<5) + [.recovering, .recovering])
  }

  @Test("a gap in audio is reported as well, and only for its own track")
  func audio() {
    var listener = Listener()
    var audio = PacketMaker.audio()
    for number in 0..<60 {
      let packet = audio.audio(number)
      if number != 20 { listener.receive(packet) }
      listener.run(for: .milliseconds(20))
    }
    #expect(steps(listener.events, .opus) == frames(0..<20) + frames(21..<60, tellingBefore: [21]))
    #expect(!listener.events.contains { $0.isRecovering(.video) })
  }

  @Test("over a whole call with loss every late frame is reported before it is delivered, and no gap is reported twice")
  func call() throws {
    var call = SessionCall(
      seed: 9, toBob: .init(loss: 0.1, delay: .milliseconds(25)), toAlice: .init(loss: 0.1, delay: .milliseconds(25)))
    call.run(for: .seconds(20))
    call.toBob.conditions.loss = 0
    call.settle()
    var (reported, late, untold) = (0, 0, 0)
    var isReported = false
    for event in call.bob.events {
      switch event {
      case .recovering(let track) where track.kind == .video:
        #expect(!isReported)
        isReported = true
        reported += 1
      case .frame(let frame) where frame.codec == .vp8:
        if frame.gap?.reason == .recoveredLate {
          late += 1
          if !isReported { untold += 1 }
        }
        isReported = false
      default: break
      }
    }
    print("measured: 10 % loss in both directions for 20 s: \(reported) waits of 100 ms reported, \(late) of 250 ms")
    #expect(reported > 20)
    #expect(late > 0 && untold == 0)
  }
}

extension MediaEvent {
  /// Whether it is the notice that a frame of a kind is late.
  fileprivate func isRecovering(_ kind: MediaKind) -> Bool {
    if case .recovering(let track) = self { track.kind == kind } else { false }
  }
}
