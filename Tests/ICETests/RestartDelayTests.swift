import ICE
import Media
import NIOCore
import TestSupport
import Testing

/// ICE restarts with a Chromium page, started by either side, in which each message of the signalling is late or lost. Media
/// flows both ways all the time, a datagram every 100 ms.
@Suite("Restart with late and lost messages")
struct RestartDelayTests {
  /// What happens in one call, by seed.
  struct Scenario: CustomStringConvertible {
    let seed: UInt64
    let isStartedByPage: Bool
    let pageIsControlling: Bool
    let replacesConnections: Bool
    /// Whether the page's former address vanishes when it begins to gather.
    let moves: Bool
    let portCount: Int
    /// From the start to the new ports of the page, to the arrival of the offer, of the answer, and of the page's candidates,
    /// each after the one before.
    let gathering: Duration
    let offer: Duration
    let answer: Duration
    let candidates: Duration
    let losesOffer: Bool
    let losesAnswer: Bool
    let losesCandidates: Bool
    let loss: Double
    let length: Duration

    init(seed: UInt64) {
      var generator = SeededGenerator(seed: seed)
      func delay() -> Duration {
        .milliseconds([0, 1, 100, 500, 2_000].randomElement(using: &generator) ?? 0)
      }
      func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &generator) < share }
      self.seed = seed
      isStartedByPage = chance(0.6)
      pageIsControlling = chance(0.5)
      replacesConnections = chance(0.5)
      moves = isStartedByPage && chance(0.25)
      portCount = chance(0.5) ? 1 : 2
      (gathering, offer, answer, candidates) = (delay(), delay(), delay(), delay())
      losesOffer = chance(0.15)
      losesAnswer = chance(0.25)
      losesCandidates = chance(0.25)
      loss = chance(0.3) ? 0.05 : 0
      length = .seconds(seed.isMultiple(of: 12) ? 45 : 12)
    }

    var description: String {
      """
      seed \(seed): by \(isStartedByPage ? "page" : "agent"), page \(pageIsControlling ? "controlling" : "controlled"), \
      \(replacesConnections ? "replaces" : "keeps"), \(moves ? "moves, " : "")\(portCount) ports, gathering \(gathering), \
      offer \(losesOffer ? "lost" : "\(offer)"), answer \(losesAnswer ? "lost" : "\(answer)"), \
      candidates \(losesCandidates ? "lost" : "\(candidates)"), loss \(loss)
      """
    }
  }

  /// How long media was missing.
  struct Outcome {
    /// The page had no path, or what it sent was refused.
    var fromPage = Duration.zero
    /// The agent had no path, or the page did not listen where the media arrived.
    var toPage = Duration.zero
  }

  private static let step = Duration.milliseconds(100)
  private static let formerPort = address("192.0.2.2", 5_000)
  private static let newPage = ICECredentials(usernameFragment: "newpage1", password: "new-page-password-24-char")
  private static let newAgent = ICECredentials(usernameFragment: "newagent", password: "newagent-password-24-char")

  private func run(_ scenario: Scenario) throws -> Outcome {
    var page = ChromiumPeer(
      isControlling: scenario.pageIsControlling, replacesConnections: scenario.replacesConnections,
      seed: scenario.seed &+ 1)
    let left = agent(
      scenario.pageIsControlling ? .controlled : .controlling, Known.leftCredentials, hosts: [Known.left],
      seed: scenario.seed &+ 2)
    let start = MonotonicInstant.now
    page.gather(Known.rightCredentials, at: [Self.formerPort], now: start)
    page.know(Known.leftCredentials, [Known.left], now: start)
    var line = SimulatedPath(left: left, right: page, seed: scenario.seed &+ 3, now: start)
    line.delay = 5...15
    line.left.know(Known.rightCredentials, now: line.now)
    line.left.know(candidates(of: [Self.formerPort]), now: line.now)
    line.run(.seconds(3))
    try #require(line.left.selectedPair?.remote == Self.formerPort)
    try #require(line.right.mediaPath(at: line.now) != nil)
    line.loss = scenario.loss
    return play(scenario, on: &line)
  }

  private func candidates(of ports: [TransportAddress]) -> [ICECandidate] {
    ports.compactMap { port in
      try? ICECandidate(parsing: "candidate:1 1 udp 2130706431 \(port.ip) \(port.port) typ host")
    }
  }

  private typealias Events = [(time: Duration, act: (inout SimulatedPath<ChromiumPeer>) -> Void)]

  /// What the signalling does, in order.
  private func events(_ scenario: Scenario) -> Events {
    let host = address(scenario.moves ? "198.51.100.7" : "192.0.2.2").ip
    let ports = (0..<scenario.portCount).map { TransportAddress(ip: host, port: 6_000 + UInt16($0)) }
    let gather: (inout SimulatedPath<ChromiumPeer>) -> Void = { line in
      if scenario.moves { line.isBlocked = { from, to in from == Self.formerPort || to == Self.formerPort } }
      line.right.gather(Self.newPage, at: ports, now: line.now)
    }
    let restart: (inout SimulatedPath<ChromiumPeer>) -> Void = { line in
      line.left.restart(with: Self.newAgent, now: line.now)
      line.left.know(Self.newPage, now: line.now)
    }
    let tellPage: (inout SimulatedPath<ChromiumPeer>) -> Void = { line in
      line.right.know(Self.newAgent, [Known.left], now: line.now)
    }
    var events: Events = []
    let restarted: Duration
    if scenario.isStartedByPage {
      events.append((.zero, gather))
      if scenario.losesOffer { return events }
      restarted = scenario.gathering + scenario.offer
      events.append((restarted, restart))
      if !scenario.losesAnswer { events.append((restarted + scenario.answer, tellPage)) }
    } else {
      events.append((.zero, { line in line.left.setOffered(Self.newAgent) }))
      if scenario.losesOffer { return events }
      events.append((scenario.offer, tellPage))
      events.append((scenario.offer + scenario.gathering, gather))
      if scenario.losesAnswer { return events }
      restarted = scenario.offer + scenario.gathering + scenario.answer
      events.append((restarted, restart))
    }
    if !scenario.losesCandidates {
      events.append(
        (restarted + scenario.candidates, { line in line.left.know(candidates(of: ports), now: line.now) }))
    }
    return events
  }

  private func play(_ scenario: Scenario, on line: inout SimulatedPath<ChromiumPeer>) -> Outcome {
    var events = events(scenario)
    var outcome = Outcome()
    let begin = line.now
    let media = ByteBuffer(bytes: [0x80, 96, 0, 0])
    // Without the page's new credentials the agent can reach it at no new address.
    let reachable = begin + (scenario.moves ? scenario.gathering + scenario.offer : .zero)
    while line.now < begin + scenario.length {
      while let first = events.first, first.time <= line.now - begin {
        events.removeFirst()
        first.act(&line)
      }
      if let path = line.right.mediaPath(at: line.now) {
        line.transmit(media, from: path.local, to: path.remote, of: .right)
      } else {
        outcome.fromPage += Self.step
      }
      if let pair = line.left.selectedPair {
        line.transmit(media, from: pair.local, to: pair.remote, of: .left)
      } else {
        outcome.toPage += Self.step
      }
      let next = events.first.map { min(Self.step, $0.time - (line.now - begin)) } ?? Self.step
      line.run(next)
      for arrival in line.takeMedia() where !arrival.isAccepted {
        if arrival.side == .left { outcome.fromPage += Self.step } else { outcome.toPage += Self.step }
      }
      if scenario.moves {
        // What is sent to the former address does not arrive.
        if line.now <= reachable || scenario.losesOffer {
          outcome.toPage = .zero
        } else if line.left.selectedPair?.remote == Self.formerPort {
          outcome.toPage += Self.step
        }
      }
    }
    return outcome
  }

  @Test("at most 1 s of media is lost in either direction, in 120 calls by seed")
  func delays() throws {
    var worst = Outcome()
    for seed in 1...120 as ClosedRange<UInt64> {
      let scenario = Scenario(seed: seed)
      let outcome = try run(scenario)
      #expect(outcome.fromPage <= .seconds(1), "from the page, \(scenario)")
      #expect(outcome.toPage <= .seconds(1), "to the page, \(scenario)")
      worst.fromPage = max(worst.fromPage, outcome.fromPage)
      worst.toPage = max(worst.toPage, outcome.toPage)
    }
    print("measured: at most \(worst.fromPage) of media from the page and \(worst.toPage) to it are lost")
  }
}
