import CallCheck
import Glibc
import ICE
import Media
import NIOCore
import RTP
import Signalling
import TestSupport

@testable import BotPeer
@testable import FaultInjection
@testable import NetworkEmulation
@testable import PeerEngine
@testable import chatbot

/// A call between a checker and an app, as `chatbot check` runs it, but without sockets and clocks: in memory, with
/// simulated time. The same plan gives the same call.
final class ReplayCall {
  /// The configuration of a call.
  struct Plan {
    var seed: UInt64 = 1
    /// The impairment of the checker's datagrams.
    var impairment: String?
    /// The fault that the app injects.
    var fault: Fault?
    var checkerOffers = false
    /// What the checker and the app play; an app without a pattern returns the media that it receives.
    var checkersPattern: Result<EncodedPattern, any Error>?
    var appsPattern: Result<EncodedPattern, any Error>? = EncodedPattern.ordered
    var appsKeyframeAnswer = KeyframeResponse.replay
    /// When the patterns start, and how much of them is played.
    var patternStart = Duration.milliseconds(500)
    var patternLength = Duration.seconds(3)
    var duration = Duration.seconds(4)
    /// The network path in each direction.
    var line = Impairment.Conditions(delay: .milliseconds(10))
    /// Real time that each step takes until the connection is established.
    var handshakePause: Duration = .zero
    /// Whether an app that returns media sends each keyframe twice.
    var returnsKeyframesTwice = false
    /// Whether the app's retransmissions are delivered.
    var carriesRepairs = true
  }

  /// The checker or the app.
  final class Side {
    let demultiplexer: PeerDemultiplexer
    /// The way of datagrams to and from ``demultiplexer``.
    let datagrams: NetworkedDemultiplexer
    let address: TransportAddress
    /// The id of the other side.
    let other: ParticipantID
    var player: FramePlayer?
    /// The datagrams that this side sends.
    fileprivate var line: EmulatedLink
    fileprivate var handshakeTimer: (due: MonotonicInstant, real: MonotonicInstant)?

    init(
      _ configuration: PeerDemultiplexer.Configuration, host: UInt32, other: ParticipantID, line: Impairment.Conditions,
      seed: UInt64, network: (any DatagramNetwork)? = nil
    ) {
      var configuration = configuration
      configuration.makeGenerator = { SeededGenerator(seed: seed) }
      demultiplexer = PeerDemultiplexer(configuration)
      datagrams = NetworkedDemultiplexer(demultiplexer, network: network)
      address = TransportAddress(ip: .v4(0x0A00_0000 | host), port: 5_000)
      demultiplexer.localAddresses = [address]
      self.other = other
      self.line = EmulatedLink(line, seed: seed)
    }

    /// The connection to the other side.
    var engine: PeerConnection? { demultiplexer.engines[other] }
  }

  let plan: Plan
  let start: MonotonicInstant
  private(set) var now: MonotonicInstant
  let checker: Side
  let app: Side
  /// Frames that the checker's engine delivered, in order.
  private(set) var received: [EncodedFrame] = []
  /// The fate of the app's packets.
  private(set) var recordedLink: RecordedLink
  private let judge: CallJudge
  private let impairment: Impairment?
  private var signals: [(due: MonotonicInstant, toChecker: Bool, message: SignallingMessage)] = []
  private var nextSample: MonotonicInstant

  init(_ plan: Plan) throws {
    self.plan = plan
    start = .now
    now = start
    nextSample = start + .seconds(1)
    impairment = try plan.impairment.map { try Impairment(parsing: $0, seed: plan.seed) }

    let ours = PeerDemultiplexer.Configuration(
      policy: .init(sending: [.audio, .video]), isPolite: { _ in true })
    var theirs = PeerDemultiplexer.Configuration(policy: .init(sending: [.audio, .video]), isPolite: { _ in false })
    theirs.policy.interceptors = plan.fault.map { [.injecting($0)] } ?? []
    theirs.policy.media = MediaSession.Configuration(
      keyframeResponse: plan.appsPattern == nil ? .requestFromSource : plan.appsKeyframeAnswer)
    var seeds = SeededGenerator(seed: plan.seed)
    checker = Side(
      ours, host: 1, other: ParticipantID("app"), line: plan.line, seed: seeds.next(),
      network: impairment.map(NetworkEmulator.init))
    app = Side(theirs, host: 2, other: ParticipantID("checker"), line: plan.line, seed: seeds.next())
    func player(_ pattern: Result<EncodedPattern, any Error>?) throws -> FramePlayer? {
      try pattern.map { FramePlayer(try $0.get(), at: start + plan.patternStart, length: plan.patternLength) }
    }
    recordedLink = RecordedLink(impairment)

    var options = CallJudge.Options(start: start.instant, room: "100")
    options.wallClock = Double(EncodedPattern.begin) - plan.patternStart / .milliseconds(1)
    options.expected = CheckExpectation(
      pattern: plan.appsPattern == nil ? .returned : .played)
    judge = CallJudge(options)
    checker.player = try player(plan.checkersPattern)
    app.player = try player(plan.appsPattern)
  }

  /// Runs the whole call, and returns the checker's report.
  func report() throws -> CheckReport {
    judge.joined(at: now.instant)
    see(.step(.appeared))
    let caller = plan.checkerOffers ? checker : app
    caller.demultiplexer.offer(to: caller.other, now: now)
    run(until: start + plan.duration)
    sample()
    var report = judge.report(at: now.instant)
    if let impairment { report.impairment = impairment.notes(from: report.mediaFrom ?? 0) }
    return report
  }

  private func see(_ event: CheckEvent) { judge.receive(event, of: checker.other, at: now.instant) }

  private func sample() {
    for statistics in checker.datagrams.statistics { judge.sampled(statistics, at: now.instant) }
  }

  // MARK: Time

  private func run(until end: MonotonicInstant) {
    work()
    while let next = nextEvent, next <= end {
      waitForOpenSSL(until: next)
      if plan.handshakePause > .zero, app.engine?.state != .connected {
        usleep(UInt32(plan.handshakePause / .microseconds(1)))
      }
      now = max(next, now + .microseconds(100))
      work()
    }
    now = max(now, end)
    work()
  }

  private var nextEvent: MonotonicInstant? {
    var all = [signals.first?.due, nextSample]
    for side in [checker, app] { all += [side.datagrams.deadline, side.line.deadline, side.player?.deadline] }
    return all.compactMap(\.self).min()
  }

  /// OpenSSL's retransmission timer reads the real clock: when simulated time jumps to its deadline, real time must pass
  /// as well.
  private func waitForOpenSSL(until next: MonotonicInstant) {
    for case let timer? in [checker.handshakeTimer, app.handshakeTimer] where timer.due <= next {
      let left = timer.real - .now
      if left > .zero { usleep(UInt32(left / .microseconds(1)) + 100) }
    }
  }

  private func work() {
    while let first = signals.first, first.due <= now {
      signals.removeFirst()
      if first.toChecker { judge.received(.message(first.message, from: checker.other), at: now.instant) }
      let side = first.toChecker ? checker : app
      side.demultiplexer.received(first.message, from: side.other, now: now)
    }
    while let datagram = app.line.receive(now: now) {
      checker.datagrams.received(datagram, from: app.address, to: checker.address, now: now)
      let script = checker.datagrams.statistics.first?.network?.clockStart
      recordedLink.received(datagram, script: script.map(MonotonicInstant.init), now: now)
    }
    while let datagram = checker.line.receive(now: now) {
      app.datagrams.received(datagram, from: checker.address, to: app.address, now: now)
    }
    while let frame = app.player?.next(now: now) { app.demultiplexer.send(frame, now: now) }
    while let frame = checker.player?.next(now: now) {
      checker.demultiplexer.send(frame, now: now)
      judge.sent(frame, at: now.instant)
    }
    let elapsed = (now - start - plan.patternStart) / .seconds(1)
    let wallClock = NTPTime(secondsSince1970: Double(EncodedPattern.begin) / 1_000 + elapsed)
    checker.datagrams.poll(now: now, wallClock: wallClock) { action, _ in takeOfChecker(action) }
    app.datagrams.poll(now: now, wallClock: wallClock) { action, _ in takeOfApp(action) }
    for side in [checker, app] {
      let due = side.engine?.secure.deadline
      if due != side.handshakeTimer?.due { side.handshakeTimer = due.map { ($0, .now + ($0 - now)) } }
    }
    if nextSample <= now {
      nextSample += .seconds(1)
      sample()
    }
  }

  private func takeOfChecker(_ action: PeerConnection.Action) {
    switch action {
    case .transmit(let datagram, _, _):
      checker.line.send(datagram, now: now)
    case .event(let event):
      judge.received(event, of: checker.other, at: now.instant)
      if case .signal(let message) = event { signals.append((now + .milliseconds(1), false, message)) }
    case .media(let events):
      for event in events {
        judge.received(event, of: checker.other, at: now.instant)
        if case .frame(let frame) = event { received.append(frame) }
      }
    case .dataChannel: break
    }
  }

  private func takeOfApp(_ action: PeerConnection.Action) {
    switch action {
    case .transmit(let datagram, _, _):
      recordedLink.sends(datagram, app.engine)
      if plan.carriesRepairs || PacketKind.of(datagram) != .rtp || recordedLink.isOriginal(datagram) {
        app.line.send(datagram, now: now)
      }
    case .event(let event):
      if case .signal(let message) = event { signals.append((now + .milliseconds(1), true, message)) }
      if plan.appsPattern == nil, event == .keyframeRequested {
        app.demultiplexer.requestKeyframe(of: app.other, now: now)
      }
    case .media(let events):
      for case .frame(let frame) in events where plan.appsPattern == nil { giveBack(frame) }
    case .dataChannel: break
    }
  }

  /// Handles a frame in an app that returns our media.
  private func giveBack(_ frame: EncodedFrame) {
    app.demultiplexer.send(frame, to: [app.other], now: now)
    guard plan.returnsKeyframesTwice, frame.codec == .vp8, frame.isKeyframe else { return }
    var second = frame
    second.time.ticks += Int64(frame.time.rate / 100)
    app.demultiplexer.send(second, to: [app.other], now: now)
  }
}
