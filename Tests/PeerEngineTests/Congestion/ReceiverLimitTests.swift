import Media
import NetworkEmulation
import PeerEngine
import RTP
import TestSupport
import Testing

@Suite("The limit that a receiver names (REMB)")
struct ReceiverLimitTests {
  private static var forwarding: MediaSession.Configuration {
    .init(keyframeResponse: .requestFromSource, isForwarding: true)
  }

  private static var withREMB: Negotiated {
    var media = Negotiated()
    media.transportWide = false
    media.maximumBitrateEstimate = true
    return media
  }

  /// A flow whose receiver estimates as aiortc does, and sends no other limit.
  private func path(
    seed: UInt64, rate: Double? = nil, _ configuration: MediaSession.Configuration, file: Int?, falseOveruse: Double
  ) -> SharedPath {
    var conditions = Impairment.Conditions(delay: .milliseconds(5), rate: rate)
    conditions.queue = .milliseconds(300)
    var shared = SharedPath(seed: seed, conditions)
    shared.add(media: Self.withREMB, configuration: configuration, file: file)
    shared.flows[0].estimator = ThroughputEstimator(seed: seed, falseOveruse: falseOveruse)
    shared.flows[0].carriesFeedback = { packet in
      if case .receiverEstimatedMaximumBitrate = packet { false } else { true }
    }
    return shared
  }

  @Test(
    "media that is forwarded is not held back by a limit that only follows what arrives: no frame is missing in 20 s",
    arguments: [1, 2, 3, 4, 5] as [UInt64], [0, 0.1, 0.4])
  func forwarded(seed: UInt64, falseOveruse: Double) {
    var shared = path(seed: seed, Self.forwarding, file: 1_200_000, falseOveruse: falseOveruse)
    shared.run(for: .seconds(20))
    let numbers = shared.videoFrames().numbers
    #expect((shared.flows[0].estimator?.limits.count ?? 0) > 20)
    // The receiver still holds the last ones.
    #expect(numbers.count > 590, "\(numbers.count) of 600 frames")
    #expect(shared.flows[0].sender.sendStatistics.framesSkipped == 0)
  }

  @Test("a recorded file is not held back by it either", arguments: [1, 2, 3] as [UInt64])
  func recorded(seed: UInt64) {
    var shared = path(seed: seed, .init(), file: 1_200_000, falseOveruse: 0.2)
    shared.run(for: .seconds(20))
    #expect(shared.videoFrames().numbers.count > 590)
  }

  @Test("on a link that is too slow for media that is forwarded, reported loss makes the limit count")
  func narrow() {
    var shared = path(seed: 2, rate: 500_000, Self.forwarding, file: 1_000_000, falseOveruse: 0)
    shared.flows[0].file?.keyframeEvery = 60
    shared.run(for: .seconds(30))
    #expect(shared.flows[0].sender.sendStatistics.framesSkipped > 100)
    let numbers = shared.videoFrames().numbers
    #expect(numbers.count > 150, "\(numbers.count) of 900 frames")
    let last = shared.flows[0].frames.last { $0.frame.codec == .vp8 }?.time ?? shared.start
    #expect(shared.now - last < .seconds(5))
  }

  @Test(
    "a limit of less than the audio, named once, ends: a live source has its bitrate back", arguments: [true, false])
  func starving(namesVideoAlone: Bool) {
    var shared = SharedPath(seed: 1, .init(delay: .milliseconds(5)))
    shared.add(media: Self.withREMB)
    shared.flows[0].carriesFeedback = { packet in
      if case .receiverEstimatedMaximumBitrate = packet { false } else { true }
    }
    shared.run(for: .seconds(5))
    shared.limit(to: 10_000, sources: namesVideoAlone ? [Negotiated.aliceVideo] : [])
    shared.run(for: .seconds(3))
    let low = shared.target(at: shared.now)
    let before = shared.flows[0].frames.count { $0.frame.codec == .vp8 }
    shared.run(for: .seconds(22))
    #expect(low < 150_000)
    #expect(shared.target(at: shared.now) > 500_000)
    #expect(shared.flows[0].frames.count { $0.frame.codec == .vp8 } - before > 400)
  }

  // MARK: The controller

  private static let start = MonotonicInstant.now

  /// A controller that sends video and audio at some bitrates for a while.
  private func controller(
    follows: Bool = true, video: Int, audio: Int, seconds: Int = 3
  ) -> (CongestionController, MonotonicInstant) {
    var configuration = CongestionController.Configuration()
    configuration.sourceFollows = follows
    var controller = CongestionController(configuration: configuration)
    controller.configure(transportWide: false)
    let now = run(&controller, video: video, audio: audio, from: Self.start, milliseconds: seconds * 1_000)
    return (controller, now)
  }

  private func run(
    _ controller: inout CongestionController, video: Int, audio: Int, from start: MonotonicInstant, milliseconds: Int
  ) -> MonotonicInstant {
    var now = start
    for _ in 0..<(milliseconds / 20) {
      now = now + .milliseconds(20)
      if video > 0 { controller.sent(number: nil, size: video / 8 / 50, isRepeat: false, now: now) }
      if audio > 0 { controller.sent(number: nil, size: audio / 8 / 50, isRepeat: false, isAudio: true, now: now) }
      _ = controller.poll(backlog: .zero, now: now)
    }
    return now
  }

  @Test("a limit for the video alone leaves audio out; one for everything, or for no source of ours, does not")
  func coverage() {
    let (controller, now) = controller(video: 400_000, audio: 64_000)
    func estimate(_ coverage: ReceiverLimit.Coverage) -> Double {
      var controller = controller
      controller.received(maximumBitrate: 300_000, coverage: coverage, now: now)
      return controller.estimate
    }
    #expect(estimate(.everything) == 300_000)
    #expect(abs(estimate(.video) - 364_000) < 4_000)
    // Audio alone is never held back.
    #expect(estimate(.audio) == controller.estimate)
  }

  @Test("the estimate is never lower than what audio needs and 25 kb/s more")
  func leastEstimate() {
    var (controller, now) = controller(video: 400_000, audio: 128_000)
    controller.received(maximumBitrate: 1_000, now: now)
    #expect(controller.estimate >= 150_000)
    now = run(&controller, video: 0, audio: 128_000, from: now, milliseconds: 500)
    #expect(controller.estimate >= 150_000)
  }

  @Test("a limit that is repeated, or that has been followed for less than 10 s, stays")
  func lasting() {
    var (controller, now) = controller(video: 400_000, audio: 64_000)
    controller.received(maximumBitrate: 200_000, now: now)
    now = run(&controller, video: 130_000, audio: 64_000, from: now, milliseconds: 9_900)
    #expect(controller.estimate == 200_000)
    controller.received(maximumBitrate: 200_000, now: now)
    now = run(&controller, video: 130_000, audio: 64_000, from: now, milliseconds: 9_900)
    #expect(controller.estimate == 200_000)
    now = run(&controller, video: 130_000, audio: 64_000, from: now, milliseconds: 8_000)
    #expect(controller.estimate > 200_000)
  }

  @Test("a limit that stays far below what a file needs is a cap, and counts; one that is raised does not")
  func cap() {
    var (capped, now) = controller(follows: false, video: 1_000_000, audio: 64_000)
    var raised = capped
    for step in 0..<6 {
      capped.received(maximumBitrate: 300_000, now: now)
      raised.received(maximumBitrate: UInt64(300_000 + step * 10_000), now: now)
      var copy = capped
      let next = run(&copy, video: 1_000_000, audio: 64_000, from: now, milliseconds: 500)
      capped = copy
      _ = run(&raised, video: 1_000_000, audio: 64_000, from: now, milliseconds: 500)
      now = next
    }
    #expect(capped.knownLimit == 300_000)
    #expect(raised.knownLimit == nil)
  }
}
