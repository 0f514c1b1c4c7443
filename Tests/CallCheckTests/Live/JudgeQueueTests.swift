import CallCheck
import Media
import NIOCore
import TestSupport
import Testing

@Suite("the queue of the judge")
struct JudgeQueueTests {
  private static let start = ContinuousClock.now
  private static let (anna, bert) = (ParticipantID("anna"), ParticipantID("bert"))

  private func instant(_ seconds: Double) -> ContinuousClock.Instant {
    Self.start + .milliseconds(Int64(seconds * 1_000))
  }

  /// A frame of 100 bytes whose timestamp is its number.
  private func videoFrame(
    _ number: Int, of peer: ParticipantID = anna, stream: Int = 1, isKeyframe: Bool = false, at seconds: Double = 0
  ) -> JudgeQueue.Job {
    let frame = EncodedFrame(
      owner: peer, stream: stream, codec: .vp8, time: MediaTime(ticks: Int64(number), rate: 90_000),
      payload: ByteBuffer(repeating: 0, count: 100), isKeyframe: isKeyframe, arrival: instant(seconds))
    return .event(.frame(frame), peer, instant(seconds))
  }

  /// The number of a frame, `-n` for n skipped frames, nil for any other job.
  private func number(_ job: JudgeQueue.Job?) -> Int? {
    switch job {
    case .event(.frame(let frame), _, _): Int(frame.time.ticks)
    case .event(.skipped(let videoFrames), _, _): -videoFrames.count
    default: nil
    }
  }

  private func numbers(_ queue: inout JudgeQueue) -> [Int] {
    var numbers: [Int] = []
    while let job = queue.next() {
      if let number = number(job) { numbers.append(number) }
    }
    return numbers
  }

  @Test("frames that fit are delivered completely and in order")
  func order() {
    var queue = JudgeQueue(.init(bytes: 1_000_000, time: .seconds(2)))
    for number in 0..<3_000 { #expect(queue.add(videoFrame(number, isKeyframe: number == 0), now: instant(0)) == nil) }
    #expect(queue.bytes == 300_000)
    let taken = numbers(&queue)
    #expect(taken == Array(0..<3_000))
    #expect(queue.bytes == 0)
  }

  /// A 20 ms packet of silence.
  private func audio(_ number: Int, ticks: Int64, stream: Int = 1, at seconds: Double) -> JudgeQueue.Job {
    let frame = EncodedFrame(
      owner: Self.anna, stream: stream, codec: .opus, time: MediaTime(ticks: Int64(number) * ticks, rate: 48_000),
      payload: ByteBuffer(bytes: [0xF8, 0xFF, 0xFE]), isKeyframe: true, arrival: instant(seconds))
    return .event(.frame(frame), Self.anna, instant(seconds))
  }

  @Test("audio at real-time speed is queued completely, and faster audio only as far as its budget allows")
  func audioInTime() {
    var queue = JudgeQueue()
    for number in 0..<3_000 { _ = queue.add(audio(number, ticks: 960, at: Double(number) / 50), now: instant(0)) }
    #expect(numbers(&queue).count == 3_000)
    // Ten times as many packets as real time allows, and others whose timestamps leave gaps of a second.
    for ticks in [960, 48_000] as [Int64] {
      var flooded = JudgeQueue()
      for number in 0..<5_000 {
        _ = flooded.add(audio(number, ticks: ticks, at: Double(number) / 500), now: instant(0))
      }
      let taken = numbers(&flooded).count
      print("measured: of 5,000 packets in 10 s, \(ticks) ticks apart, \(taken) are queued")
      #expect(taken < 16 * 48_000 / Int(ticks) + 10)
    }
  }

  @Test("when too many bytes wait, frames are skipped up to a keyframe that finds the queue half empty")
  func bytes() {
    var queue = JudgeQueue(.init(bytes: 400, time: .seconds(1_000)))
    // The fifth frame exceeds the bound, so the sixth is the first that is skipped; only that one is reported.
    let reported = (0..<8).map { queue.add(videoFrame($0, isKeyframe: $0 == 0), now: instant(0)) }
    #expect(reported == [nil, nil, nil, nil, nil, Self.anna, nil, nil])
    #expect(queue.bytes == 500)
    // A keyframe is skipped while the queue is full, and so is a delta frame when there is room.
    _ = queue.add(videoFrame(8, isKeyframe: true), now: instant(0))
    #expect((0..<3).map { _ in number(queue.next()) } == [0, 1, 2])
    _ = queue.add(videoFrame(9), now: instant(0))
    _ = queue.add(videoFrame(10, isKeyframe: true), now: instant(0))
    _ = queue.add(videoFrame(11), now: instant(0))
    let taken = numbers(&queue)
    #expect(taken == [3, 4, -5, 10, 11])
  }

  @Test("when the first frame has waited too long, frames are skipped, however few wait")
  func time() {
    var queue = JudgeQueue(.init(bytes: 1_000_000, time: .seconds(2)))
    _ = queue.add(videoFrame(0, isKeyframe: true), now: instant(0))
    _ = queue.add(videoFrame(1), now: instant(2))
    _ = queue.add(videoFrame(2, at: 2.1), now: instant(2.1))
    #expect(number(queue.next()) == 0)
    // The first queued frame has now waited for half of the permitted time.
    _ = queue.add(videoFrame(3, isKeyframe: true, at: 3.2), now: instant(3.2))
    #expect(number(queue.next()) == 1)
    #expect(queue.wantedKeyframes(now: instant(3.3)) == [Self.anna])
    _ = queue.add(videoFrame(4, isKeyframe: true, at: 3.3), now: instant(3.3))
    guard case .event(.skipped(let videoFrames), Self.anna, _)? = queue.next() else {
      Issue.record("The skipped frames are not reported.")
      return
    }
    #expect(videoFrames.count == 2 && videoFrames.keyframes == 1 && videoFrames.bytes == 200)
    #expect(videoFrames.first == instant(2.1) && videoFrames.last == instant(3.2))
    #expect(number(queue.next()) == 4)
    #expect(queue.wantedKeyframes(now: instant(3.3)).isEmpty)
  }

  @Test("frames are skipped for each peer separately, audio is not, and skipped frames are reported at the end")
  func others() {
    var queue = JudgeQueue(.init(bytes: 200, time: .seconds(2)))
    for number in 0..<3 { _ = queue.add(videoFrame(number, isKeyframe: number == 0), now: instant(0)) }
    _ = queue.add(videoFrame(3), now: instant(0))
    let audio = EncodedFrame(
      owner: Self.anna, codec: .opus, time: MediaTime(ticks: 0, rate: 48_000),
      payload: ByteBuffer(repeating: 0, count: 100), isKeyframe: true, arrival: instant(0))
    _ = queue.add(.event(.frame(audio), Self.anna, instant(0)), now: instant(0))
    #expect(queue.bytes == 400)
    for _ in 0..<3 { _ = queue.next() }
    // There is room again: a peer of which nothing was skipped continues at once.
    _ = queue.add(videoFrame(70, of: Self.bert), now: instant(0))
    _ = queue.add(.over(instant(1)), now: instant(1))
    var jobs: [JudgeQueue.Job] = []
    while let job = queue.next() { jobs.append(job) }
    #expect(jobs.count == 4)
    guard case .event(.frame(let first), _, _)? = jobs.first, case .over? = jobs.last else {
      Issue.record("The first job must be audio and the last one the end.")
      return
    }
    #expect(first.codec == .opus)
    #expect(jobs.compactMap(number) == [0, 70, -1])
  }

  @Test("frames are skipped for each stream separately, within bounds that the streams of a peer share")
  func streams() {
    var queue = JudgeQueue(.init(bytes: 400, time: .seconds(1_000)))
    for number in 0..<5 { _ = queue.add(videoFrame(number, isKeyframe: number == 0), now: instant(0)) }
    // The second stream does not find more room than the first one.
    let second = queue.add(videoFrame(50, stream: 2, isKeyframe: true), now: instant(0))
    let first = queue.add(videoFrame(5), now: instant(0))
    #expect(second == Self.anna && first == Self.anna)
    for _ in 0..<3 { _ = queue.next() }
    #expect(queue.wantedKeyframes(now: instant(0)) == [Self.anna])
    // A keyframe of one stream does not continue the other.
    _ = queue.add(videoFrame(6, isKeyframe: true), now: instant(0))
    _ = queue.add(videoFrame(51, stream: 2), now: instant(0))
    _ = queue.add(videoFrame(7), now: instant(0))
    queue.reportAllSkipped(now: instant(1))
    var found: [String] = []
    while let job = queue.next() {
      switch job {
      case .event(.frame(let frame), _, _): found.append("\(frame.stream): \(frame.time.ticks)")
      case .event(.skipped(let frames), Self.anna, _): found.append("\(frames.stream): -\(frames.count)")
      default: found.append("other")
      }
    }
    #expect(found == ["1: 3", "1: 4", "1: -1", "1: 6", "1: 7", "2: -2"])
  }

  @Test(
    "the audio of several streams at real-time speed is queued completely, but not that of streams that are not judged")
  func audioOfStreams() {
    var queue = JudgeQueue()
    for number in 0..<1_000 {
      for stream in [1, 2, 16, 17, 0] {
        _ = queue.add(audio(number, ticks: 960, stream: stream, at: Double(number) / 50), now: instant(0))
      }
    }
    _ = queue.add(videoFrame(1, stream: 17, isKeyframe: true), now: instant(0))
    let taken = numbers(&queue)
    #expect(taken.count == 3_000)
  }

  @Test(
    "with any input and any speed, no frame is delivered without the one before it, and each one is counted")
  func neverBroken() {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<50 {
      let bounds = LiveJudge.QueueBounds(bytes: Int.random(in: 100...2_000, using: &random), time: .milliseconds(300))
      var queue = JudgeQueue(bounds)
      var taken: [ParticipantID: Int] = [:]
      var keyframes: Set<Int> = []
      var (sent, seen, skipped, broken, most) = (0, 0, 0, 0, 0)
      func receive(_ job: JudgeQueue.Job) {
        guard case .event(let event, let peer, _) = job else { return }
        switch event {
        case .skipped(let videoFrames): skipped += videoFrames.count
        case .frame(let frame):
          let number = Int(frame.time.ticks)
          seen += 1
          if !keyframes.contains(number), taken[peer] != number - 2 { broken += 1 }
          taken[peer] = number
        default: break
        }
      }
      for number in 0..<600 {
        // Frames of two peers in turn, so a frame's predecessor has its number minus two.
        let peer = number.isMultiple(of: 2) ? Self.anna : Self.bert
        let isKeyframe = number < 2 || Int.random(in: 0..<12, using: &random) == 0
        if isKeyframe { keyframes.insert(number) }
        let now = Double(number) * 0.01
        _ = queue.add(videoFrame(number, of: peer, isKeyframe: isKeyframe, at: now), now: instant(now))
        sent += 1
        most = max(most, queue.bytes)
        for _ in 0..<Int.random(in: 0...2, using: &random) {
          if let job = queue.next() { receive(job) }
        }
      }
      queue.reportAllSkipped(now: instant(6))
      while let job = queue.next() { receive(job) }
      #expect(broken == 0)
      #expect(seen + skipped == sent)
      #expect(most <= bounds.bytes + 100)
    }
  }
}
