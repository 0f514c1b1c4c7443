import ICE
import NIOCore
import TestSupport
import Testing

@Suite("Consent")
struct ConsentTests {
  private func completeLine(left: [TransportAddress] = [Known.left], right: [TransportAddress] = [Known.right]) throws
    -> SimulatedPath<ICEAgent>
  {
    var line = SimulatedPath.agents(left: left, right: right)
    line.exchangeAll()
    try #require(line.run(.seconds(2)) { $0.isComplete } != nil)
    return line
  }

  @Test("a call of an hour stays completed with one check every 4 to 6 s in each direction")
  func steadyState() throws {
    var line = try completeLine()
    let before = line.left.statistics.checksSent
    line.run(.seconds(3_600))
    let sent = line.left.statistics.checksSent - before
    #expect((600...900).contains(sent), "\(sent) checks")
    #expect(line.states(of: .left) == [.checking, .connected, .completed])
    #expect(line.isComplete)
  }

  @Test("with 20 % loss a call of ten minutes never fails and is rarely disconnected, for each of 10 seeds")
  func lossyCall() throws {
    var disconnections = 0
    for seed in 1...10 as ClosedRange<UInt64> {
      var line = SimulatedPath.agents(seed: seed)
      line.loss = 0.2
      line.delay = 10...40
      line.exchangeAll()
      line.run(.seconds(600))
      #expect(!line.states(of: .left).contains(.failed), "seed \(seed)")
      #expect(!line.states(of: .right).contains(.failed), "seed \(seed)")
      disconnections += (line.states(of: .left) + line.states(of: .right)).count { $0 == .disconnected }
    }
    #expect(disconnections <= 5, "\(disconnections) in 200 minutes")
  }

  @Test("after 8 s without a response the agent is disconnected, and after 30 s it stops sending")
  func loss() throws {
    var line = try completeLine()
    line.run(.seconds(20))
    line.isBlocked = { _, _ in true }
    let silence = try #require(line.run(.seconds(60)) { $0.left.state == .disconnected })
    #expect(silence >= .seconds(2) && silence <= .seconds(8))
    #expect(line.left.selectedPair != nil)
    let failure = try #require(line.run(.seconds(60)) { $0.left.state == .failed })
    #expect(silence + failure >= .seconds(23) && silence + failure <= .seconds(30))
    #expect(line.left.selectedPair == nil)
    #expect(!line.left.isValidated(local: Known.left, remote: Known.right))
    let sent = line.left.statistics.checksSent
    line.run(.seconds(100))
    #expect(line.left.statistics.checksSent == sent)
    #expect(line.left.deadline == nil)
  }

  @Test("a path that works again before 30 s is completed within 2 s")
  func recovery() throws {
    var line = try completeLine()
    line.isBlocked = { _, _ in true }
    line.run(.seconds(20))
    #expect(line.left.state == .disconnected)
    line.isBlocked = { _, _ in false }
    let time = try #require(line.run(.seconds(10)) { $0.isComplete })
    #expect(time < .seconds(2))
    line.run(.seconds(100))
    #expect(line.isComplete)
    #expect(line.states(of: .left) == [.checking, .connected, .completed, .disconnected, .completed])
  }

  @Test("after consent expires the path stays closed to checks until a restart")
  func noReturnWithoutRestart() throws {
    var line = try completeLine()
    line.isBlocked = { _, _ in true }
    line.run(.seconds(60))
    #expect(line.left.state == .failed)
    line.isBlocked = { _, _ in false }
    var visitor = ScriptedPeer(
      hosts: [], credentials: Known.rightCredentials, remote: Known.leftCredentials)
    let before = line.sent[.left, default: []].count
    line.inject(visitor.request(), from: Known.right, to: Known.left, side: .left)
    line.run(.seconds(5))
    #expect(line.sent[.left, default: []].count == before)
    #expect(line.left.state == .failed)

    line.left.restart(with: .init(usernameFragment: "newleft1", password: "new-left-password-24-char"), now: line.now)
    line.right.restart(with: .init(usernameFragment: "newright", password: "new-rightpassword-24-char"), now: line.now)
    line.exchangeAll()
    #expect(line.run(.seconds(1)) { $0.isComplete } != nil)
  }

  @Test("when the selected pair fails, another working pair replaces it before consent expires")
  func takeover() throws {
    var line = try completeLine(left: [Known.left, Known.leftV6], right: [Known.right, Known.rightV6])
    line.run(.seconds(10))
    let family = try #require(line.left.selectedPair?.remote.family)
    line.isBlocked = { _, to in to.family == family }
    let time = try #require(
      line.run(.seconds(30)) {
        $0.isComplete && $0.left.selectedPair?.remote.family != family
          && $0.right.selectedPair?.remote.family != family
      })
    #expect(time < .seconds(10))
    line.run(.seconds(60))
    #expect(line.isComplete)
    #expect(!line.states(of: .left).contains(.failed))
  }

  @Test("a Binding indication is accepted as a keepalive on a validated path only")
  func indication() throws {
    var line = try completeLine()
    let keepalive = STUNMessage(.indication, transactionID: .init(high: 1, low: 2)).encoded(integrityKey: nil)
    let isTaken = line.left.received(keepalive, from: Known.right, to: Known.left, now: line.now)
    #expect(isTaken)
    let isTakenElsewhere = line.left.received(keepalive, from: address("192.0.2.5"), to: Known.left, now: line.now)
    #expect(!isTakenElsewhere)
  }
}
