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
