import ICE
import Media
import TestSupport
import Testing

@Suite("candidates with names")
struct NamedCandidateTests {
  private static let name = "76edc3c7-46bf-4f06-a614-2c26338ff10a.local"

  private func candidate(
    _ name: String = name, port: UInt16 = 59_019, rest: String = ""
  ) throws -> ICECandidate {
    try ICECandidate(parsing: "candidate:1 1 udp 2113937151 \(name) \(port) typ host\(rest)")
  }

  private func names(of agent: inout ICEAgent) -> [String] { agent.takeNamesToResolve() }

  private func asking(resolvesNames: Bool = true) -> ICEAgent {
    var agent = agent(.controlling, Known.leftCredentials, hosts: [Known.left])
    agent.resolvesNames = resolvesNames
    return agent
  }

  @Test("two agents connect when one's only candidate is a name that is resolved")
  func connects() throws {
    var line = SimulatedPath.agents()
    line.left.resolvesNames = true
    line.exchangeCredentials()
    line.left.addRemoteCandidate(try candidate(port: Known.right.port), now: line.now)
    line.run(.seconds(1))
    #expect(line.left.statistics.checksSent == 0)
    #expect(names(of: &line.left) == [Self.name])
    let isWanted = line.left.resolved(Self.name, to: [Known.right.ip], now: line.now)
    #expect(isWanted)
    #expect(line.run(.milliseconds(100)) { $0.isComplete } != nil)
    #expect(line.left.selectedPair?.remoteType == .host)
    #expect(line.left.statistics.resolvedCandidates == 1)
    #expect(line.left.statistics.unresolvableCandidates == 0)
  }

  @Test("a name is asked for once, whatever its case, and the answer adds all candidates that wait for it")
  func sameName() throws {
    let now = MonotonicInstant.now
    var agent = asking()
    agent.know(Known.rightCredentials, now: now)
    agent.addRemoteCandidate(try candidate(port: 1_000), now: now)
    agent.addRemoteCandidate(try candidate(Self.name.uppercased(), port: 2_000), now: now)
    #expect(names(of: &agent) == [Self.name])
    #expect(names(of: &agent) == [])
    let isWanted = agent.resolved(Self.name, to: [Known.right.ip, Known.rightV6.ip], now: now)
    #expect(isWanted)
    #expect(agent.statistics.remoteCandidates == 4)
    #expect(agent.statistics.resolvedCandidates == 2)
    let isWantedAgain = agent.resolved(Self.name, to: [Known.left.ip], now: now)
    #expect(!isWantedAgain)
    #expect(agent.statistics.remoteCandidates == 4)
  }

  @Test("a name without an answer counts as unresolvable, and is asked for again when it arrives again")
  func noAnswer() throws {
    let now = MonotonicInstant.now
    var agent = asking()
    agent.know(Known.rightCredentials, now: now)
    agent.addRemoteCandidate(try candidate(), now: now)
    _ = agent.takeNamesToResolve()
    let isWanted = agent.resolved(Self.name, to: [], now: now)
    #expect(isWanted)
    #expect(agent.statistics.unresolvableCandidates == 1)
    #expect(agent.statistics.remoteCandidates == 0)
    agent.addRemoteCandidate(try candidate(), now: now)
    #expect(names(of: &agent) == [Self.name])
  }

  @Test("a name that arrives before the credentials is added when they arrive after its answer")
  func beforeCredentials() throws {
    let now = MonotonicInstant.now
    var agent = asking()
    let fragment = Known.rightCredentials.usernameFragment
    agent.addRemoteCandidate(try candidate(rest: " ufrag \(fragment)"), now: now)
    #expect(names(of: &agent) == [Self.name])
    let isWanted = agent.resolved(Self.name, to: [Known.right.ip], now: now)
    #expect(isWanted)
    #expect(agent.statistics.remoteCandidates == 0)
    agent.know(Known.rightCredentials, now: now)
    #expect(agent.statistics.remoteCandidates == 1)
  }

  @Test("an answer after an ICE restart adds no candidate of the former session", arguments: ["", " ufrag rightrig"])
  func restart(rest: String) throws {
    let now = MonotonicInstant.now
    var agent = asking()
    agent.know(Known.rightCredentials, now: now)
    agent.addRemoteCandidate(try candidate(rest: rest), now: now)
    agent.know(
      ICECredentials(usernameFragment: "nextnext", password: "next-password-24-characters"), now: now)
    let isWanted = agent.resolved(Self.name, to: [Known.right.ip], now: now)
    #expect(isWanted)
    #expect(agent.statistics.remoteCandidates == 0)
    #expect(agent.statistics.resolvedCandidates == 0)
  }

  @Test("a candidate of the next session waits for it with its address")
  func nextSession() throws {
    let now = MonotonicInstant.now
    var agent = asking()
    agent.know(Known.rightCredentials, now: now)
    agent.addRemoteCandidate(try candidate(rest: " ufrag nextnext"), now: now)
    let isWanted = agent.resolved(Self.name, to: [Known.right.ip], now: now)
    #expect(isWanted)
    #expect(agent.statistics.remoteCandidates == 0)
    agent.know(
      ICECredentials(usernameFragment: "nextnext", password: "next-password-24-characters"), now: now)
    #expect(agent.statistics.remoteCandidates == 1)
  }

  @Test("a resolved private address is checked only where local candidates are", arguments: [true, false])
  func locality(allowsLocalCandidates: Bool) throws {
    let now = MonotonicInstant.now
    var agent = asking()
    agent.allowsLocalCandidates = allowsLocalCandidates
    agent.know(Known.rightCredentials, now: now)
    agent.addRemoteCandidate(try candidate(), now: now)
    #expect(names(of: &agent) == [Self.name])
    let isWanted = agent.resolved(Self.name, to: [address("10.0.0.9").ip], now: now)
    #expect(isWanted)
    #expect(agent.statistics.remoteCandidates == (allowsLocalCandidates ? 1 : 0))
    #expect(agent.statistics.ignoredCandidates == (allowsLocalCandidates ? 0 : 1))
  }

  @Test(
    "names of services, of other domains and without a UUID at the start are not asked for",
    arguments: [
      "printer.local", "76edc3c7-46bf-4f06-a614-2c26338ff10.local", "x76edc3c7-46bf-4f06-a614-2c26338ff10a.local",
      "76edc3c7-46bf-4f06-a614-2c26338ff10a.example.com", "76edc3c7_46bf-4f06-a614-2c26338ff10a.local",
      "76edc3c7-46bf-4f06-a614-2c26338ff10a._tcp.local", "76edc3c7-46bf-4f06-a614-2c26338ff10g.local",
    ])
  func otherNames(name: String) throws {
    let now = MonotonicInstant.now
    var agent = asking()
    agent.know(Known.rightCredentials, now: now)
    agent.addRemoteCandidate(try candidate(name), now: now)
    #expect(names(of: &agent) == [])
    #expect(agent.statistics.unresolvableCandidates == 1)
  }

  @Test("a UUID with digits after it, as Safari sends, is asked for")
  func digits() throws {
    let name = "76edc3c7-46bf-4f06-a614-2c26338ff10a-2.local"
    var agent = asking()
    agent.addRemoteCandidate(try candidate(name), now: .now)
    #expect(names(of: &agent) == [name])
  }

  @Test("an agent that does not look names up counts them, and a port of 0 is ignored")
  func notAsking() throws {
    let now = MonotonicInstant.now
    var other = asking(resolvesNames: false)
    other.addRemoteCandidate(try candidate(), now: now)
    #expect(names(of: &other) == [])
    #expect(other.statistics.unresolvableCandidates == 1)
    var agent = asking()
    agent.addRemoteCandidate(try candidate(port: 0), now: now)
    #expect(names(of: &agent) == [])
    #expect(agent.statistics.ignoredCandidates == 1)
  }

  @Test("a flood of names is limited to 16 names and 50 waiting candidates")
  func flood() throws {
    let now = MonotonicInstant.now
    var agent = asking()
    for number in 0..<1_000 {
      let digits = String(number)
      let tail = String(repeating: "0", count: 12 - digits.count) + digits
      agent.addRemoteCandidate(try candidate("76edc3c7-46bf-4f06-a614-\(tail).local"), now: now)
    }
    #expect(names(of: &agent).count == 16)
    #expect(agent.statistics.unresolvableCandidates == 984)
    var repeated = asking()
    for port in 1..<1_000 { repeated.addRemoteCandidate(try candidate(port: UInt16(port)), now: now) }
    #expect(names(of: &repeated).count == 1)
    #expect(repeated.statistics.unresolvableCandidates == 949)
    let isWanted = repeated.resolved(Self.name, to: [], now: now)
    #expect(isWanted)
    #expect(repeated.statistics.unresolvableCandidates == 999)
  }
}
