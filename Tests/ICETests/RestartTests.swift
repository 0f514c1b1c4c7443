import ICE
import NIOCore
import TestSupport
import Testing

@Suite("Restart")
struct RestartTests {
  private let newLeft = ICECredentials(usernameFragment: "newleft1", password: "new-left-password-24-char")
  private let newRight = ICECredentials(usernameFragment: "newright", password: "new-rightpassword-24-char")

  private func completeLine() throws -> SimulatedPath<ICEAgent> {
    var line = SimulatedPath.agents()
    line.exchangeAll()
    try #require(line.run(.seconds(2)) { $0.isComplete } != nil)
    line.run(.seconds(10))
    return line
  }

  @Test("after a restart the pair is found again while the old one stays selected and open")
  func restart() throws {
    var line = try completeLine()
    line.left.restart(with: newLeft, now: line.now)
    line.run(.milliseconds(300))
    #expect(line.left.state == .new)
    #expect(line.left.selectedPair?.remote == Known.right)
    #expect(line.left.isValidated(local: Known.left, remote: Known.right))
    #expect(line.left.localUsernameFragments == ["newleft1", "leftleft"])

    line.right.restart(with: newRight, now: line.now)
    line.exchangeAll()
    #expect(line.left.isValidated(local: Known.left, remote: Known.right))
    #expect(line.run(.seconds(1)) { $0.isComplete } != nil)
    line.run(.seconds(60))
    #expect(line.isComplete)
    #expect(line.left.localUsernameFragments == ["newleft1"])
  }

  @Test("a restart can move to another address")
  func restartElsewhere() throws {
    var line = try completeLine()
    let elsewhere = address("192.0.2.99")
    line.right.addLocalHost(elsewhere)
    line.isBlocked = { from, to in from == Known.right || to == Known.right }
    line.left.restart(with: newLeft, now: line.now)
    line.right.restart(with: newRight, now: line.now)
    line.exchangeAll()
    #expect(line.run(.seconds(2)) { $0.isComplete } != nil)
    #expect(line.left.selectedPair?.remote == elsewhere)
    #expect(line.events.contains { $0.action == .selected(local: Known.left, remote: elsewhere) })
  }

  @Test("a side without the new credentials still gets responses with the old password")
  func oldChecks() throws {
    var line = try completeLine()
    line.left.restart(with: newLeft, now: line.now)
    line.run(.seconds(15))
    #expect(line.right.state == .completed)
  }

  @Test("the old pair is abandoned 30 s after its last response when nothing follows the restart")
  func abandonedRestart() throws {
    var line = try completeLine()
    line.isBlocked = { _, _ in true }
    line.left.restart(with: newLeft, now: line.now)
    line.run(.seconds(31))
    #expect(line.left.selectedPair == nil)
    #expect(!line.left.isValidated(local: Known.left, remote: Known.right))
    #expect(line.left.deadline == nil)
  }

  @Test("new remote credentials alone begin a new session")
  func remoteOnly() throws {
    var line = try completeLine()
    line.right.restart(with: newRight, now: line.now)
    line.exchangeAll()
    #expect(line.run(.seconds(1)) { $0.isComplete } != nil)
    #expect(line.left.localUsernameFragments.first == "leftleft")
  }

  @Test("candidates and checks of the next session that arrive before its credentials are kept")
  func earlyNextSession() throws {
    var line = try completeLine()
    line.right.restart(with: newRight, now: line.now)
    line.right.know(line.left.localCredentials, now: line.now)
    line.right.know(line.left.localCandidates, now: line.now)
    line.run(.seconds(1))
    #expect(line.left.state == .completed)
    line.left.know(newRight, now: line.now)
    #expect(line.run(.milliseconds(200)) { $0.isComplete } != nil)
  }

  /// A request with certain credentials of the left agent.
  private func request(
    _ recipient: ICECredentials, from sender: ICECredentials, nominates: Bool = false
  ) -> ByteBuffer {
    var peer = ScriptedPeer(hosts: [], credentials: sender, remote: recipient)
    peer.role = .controlling
    return peer.request(nominates: nominates)
  }

  /// A complete path whose left agent is controlled.
  private func controlledLine() throws -> SimulatedPath<ICEAgent> {
    var line = SimulatedPath.agents(roles: (.controlled, .controlling))
    line.exchangeAll()
    try #require(line.run(.seconds(2)) { $0.isComplete } != nil)
    return line
  }

  @Test("a path that the remote peer nominates with the old credentials, just before or after a restart, is valid")
  func nominatedWithOldCredentials() throws {
    var line = try controlledLine()
    let (before, after, stranger) = (address("192.0.2.98"), address("192.0.2.99"), address("192.0.2.66"))
    let check = request(Known.leftCredentials, from: newRight, nominates: true)
    line.inject(check, from: before, to: Known.left, side: .left)
    #expect(line.left.isValidated(local: Known.left, remote: before))
    line.left.restart(with: newLeft, now: line.now)
    #expect(line.left.isValidated(local: Known.left, remote: before))
    #expect(line.left.isValidated(local: Known.left, remote: Known.right))
    line.inject(check, from: after, to: Known.left, side: .left)
    #expect(line.left.isValidated(local: Known.left, remote: after))
    let wrong = ICECredentials(usernameFragment: "leftleft", password: "a-wrong-password-24-chars")
    line.inject(request(wrong, from: newRight), from: stranger, to: Known.left, side: .left)
    #expect(!line.left.isValidated(local: Known.left, remote: stranger), "no authentic check came from there")
    // Once the sender's credentials are known, the agent checks these paths itself, and nothing answers there.
    line.left.know(newRight, now: line.now)
    line.run(.seconds(1))
    let targets = line.sent[.left, default: []].compactMap { try? STUNMessage(parsing: $0) }.filter {
      $0.kind == .request && $0.username == "newright:newleft1"
    }
    #expect(targets.count >= 2)
    line.run(.seconds(45))
    #expect(!line.left.isValidated(local: Known.left, remote: before))
    #expect(!line.left.isValidated(local: Known.left, remote: after))
  }

  @Test("checks with the credentials of an unanswered offer are answered, and used when the answer arrives")
  func checksBeforeTheAnswer() throws {
    var line = try controlledLine()
    line.left.setOffered(newLeft)
    #expect(line.left.localUsernameFragments == ["leftleft", "newleft1"])
    let elsewhere = address("192.0.2.99")
    line.inject(request(newLeft, from: newRight), from: elsewhere, to: Known.left, side: .left)
    line.right.restart(with: newRight, now: line.now)
    line.right.know(newLeft, now: line.now)
    line.right.know(line.left.localCandidates, now: line.now)
    let answered = line.right.statistics.checksAnswered
    line.run(.seconds(2))
    #expect(line.right.statistics.checksAnswered > answered)
    #expect(line.left.isValidated(local: Known.left, remote: elsewhere))
    #expect(line.left.selectedPair?.remote == Known.right, "nothing is sent to an address that has not answered")
    line.left.restart(with: newLeft, now: line.now)
    #expect(line.left.isValidated(local: Known.left, remote: elsewhere))
    line.left.know(newRight, now: line.now)
    #expect(line.run(.milliseconds(200)) { $0.isComplete } != nil, "no candidate had to arrive")
  }

  @Test("when the answer to an offer of a restart is lost, the old credentials hold as long as they are used")
  func lostAnswer() throws {
    var line = try completeLine()
    line.left.restart(with: newLeft, now: line.now)
    line.run(.seconds(300))
    #expect(line.right.state == .completed, "each of its consent checks was answered")
    #expect(line.left.isValidated(local: Known.left, remote: Known.right))
    #expect(line.left.selectedPair == nil, "without consent nothing is sent")
    line.isBlocked = { _, _ in true }
    line.run(.seconds(31))
    #expect(!line.left.isValidated(local: Known.left, remote: Known.right))
    #expect(line.left.localUsernameFragments == ["newleft1"])
    #expect(line.left.deadline == nil)
  }

  @Test("of many restarts whose answers are lost, the credentials that the remote peer uses are kept")
  func manyRestarts() throws {
    var line = try completeLine()
    for number in 0..<10 {
      let credentials = ICECredentials(usernameFragment: "restart\(number)", password: newLeft.password)
      line.left.restart(with: credentials, now: line.now)
      line.run(.seconds(7))
    }
    #expect(line.left.localUsernameFragments.count == 4)
    #expect(line.left.localUsernameFragments.contains("leftleft"))
    #expect(line.right.state == .completed)
  }

  @Test("repeated credentials change nothing")
  func repeatedCredentials() throws {
    var line = try completeLine()
    let sent = line.left.statistics.checksSent
    line.exchangeAll()
    line.run(.milliseconds(100))
    #expect(line.left.state == .completed)
    #expect(line.left.statistics.checksSent <= sent + 1)
  }
}
