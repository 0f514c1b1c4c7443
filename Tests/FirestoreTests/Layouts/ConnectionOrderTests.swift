import Firestore
import Media
import Signalling
import TestSupport
import Testing

/// The six orders of the iOS app's own tests, with the bot as either side, in simulated time.
@Suite("The order in which host and guest come and go in a Firestore room")
struct ConnectionOrderTests {
  @Test("both come at once", arguments: RoomSignalling.Role.allCases, 0..<10)
  func simultaneous(bot: RoomSignalling.Role, seed: Int) {
    var call = SimulatedCall(bot: bot, seed: seed)
    call.startBot()
    call.startApp()
    call.expectConnected()
  }

  @Test("the guest comes 1 to 5 s before the host", arguments: RoomSignalling.Role.allCases, 0..<10)
  func guestFirst(bot: RoomSignalling.Role, seed: Int) {
    var call = SimulatedCall(bot: bot, seed: seed)
    call.start(.guest)
    call.wait(call.delay())
    call.start(.host)
    call.expectConnected()
  }

  @Test("the host comes 1 to 5 s before the guest", arguments: RoomSignalling.Role.allCases, 0..<10)
  func hostFirst(bot: RoomSignalling.Role, seed: Int) {
    var call = SimulatedCall(bot: bot, seed: seed)
    call.start(.host)
    call.wait(call.delay())
    call.start(.guest)
    call.expectConnected()
  }

  @Test("the host leaves and returns", arguments: RoomSignalling.Role.allCases, 0..<10)
  func hostReturns(bot: RoomSignalling.Role, seed: Int) {
    returns(.host, bot: bot, seed: seed, crashes: false)
  }

  @Test("the guest leaves and returns", arguments: RoomSignalling.Role.allCases, 0..<10)
  func guestReturns(bot: RoomSignalling.Role, seed: Int) {
    returns(.guest, bot: bot, seed: seed, crashes: false)
  }

  @Test("any of these orders", arguments: RoomSignalling.Role.allCases, 0..<10)
  func random(bot: RoomSignalling.Role, seed: Int) {
    var generator = SeededGenerator(seed: UInt64(seed))
    switch Int.random(in: 0..<5, using: &generator) {
    case 0: simultaneous(bot: bot, seed: seed + 100)
    case 1: guestFirst(bot: bot, seed: seed + 100)
    case 2: hostFirst(bot: bot, seed: seed + 100)
    case 3: hostReturns(bot: bot, seed: seed + 100)
    default: guestReturns(bot: bot, seed: seed + 100)
    }
  }

  @Test(
    "a bot that crashed and leaves its documents behind connects again", arguments: RoomSignalling.Role.allCases, 0..<10
  )
  func crash(bot: RoomSignalling.Role, seed: Int) {
    returns(bot, bot: bot, seed: seed, crashes: true)
  }

  @Test(
    "a bot that replaces a crashed one at once connects, also if both sides act late",
    arguments: RoomSignalling.Role.allCases, [0, 500, 1_000, 2_000])
  func replacement(bot: RoomSignalling.Role, milliseconds: Int) {
    for seed in 0..<20 {
      var call = SimulatedCall(bot: bot, seed: seed, maximumDelay: .milliseconds(milliseconds))
      call.startBot()
      call.startApp()
      call.expectConnected()
      call.stopBot(crashes: true)
      call.startBot()
      call.expectConnected()
    }
  }

  @Test("a call lasts without a reset once it is connected", arguments: RoomSignalling.Role.allCases)
  func lasts(bot: RoomSignalling.Role) {
    var call = SimulatedCall(bot: bot, seed: 5)
    call.startBot()
    call.startApp()
    call.expectConnected()
    let count = call.connectionCount
    call.wait(.seconds(600))
    #expect(call.isConnected)
    #expect(call.connectionCount == count)
  }

  @Test("a host that waits for half an hour still connects within 12 s")
  func longWait() {
    var call = SimulatedCall(bot: .host, seed: 7)
    call.startBot()
    call.wait(.seconds(1_800))
    call.startApp()
    call.expectConnected(within: .seconds(12))
  }

  @Test("documents of an app that crashed do not keep the bot out", arguments: RoomSignalling.Role.allCases)
  func crashedApp(bot: RoomSignalling.Role) {
    var call = SimulatedCall(bot: bot, seed: 3)
    call.startBot()
    call.startApp()
    call.expectConnected()
    call.stopApp()
    call.stopBot(crashes: true)
    call.wait(.seconds(60))
    call.startBot()
    call.wait(.seconds(30))
    #expect(!call.isConnected)
    call.startApp()
    call.expectConnected()
  }

  private func returns(_ side: RoomSignalling.Role, bot: RoomSignalling.Role, seed: Int, crashes: Bool) {
    var call = SimulatedCall(bot: bot, seed: seed)
    call.wait(call.delay())
    call.start(.host)
    call.wait(call.delay())
    call.start(.guest)
    call.expectConnected()
    if side == bot { call.stopBot(crashes: crashes) } else { call.stopApp() }
    call.wait(.milliseconds(200))
    call.wait(call.delay())
    call.start(side)
    call.expectConnected()
  }
}

/// Both sides are bots, in simulated time.
@Suite("Two bots in a Firestore room")
struct TwoBotsTests {
  @Test("they connect in any order, and again after either of them restarted without leaving", arguments: 0..<10)
  func connects(seed: Int) {
    var generator = SeededGenerator(seed: UInt64(seed))
    var database = MemoryDatabase()
    var now = MonotonicInstant.now
    var bots: [RoomSignalling.Role: SimulatedBot<RoomSignalling>] = [:]
    for round in 0..<6 {
      let role: RoomSignalling.Role = Bool.random(using: &generator) ? .host : .guest
      for role in round == 0 ? [role, role.other] : [role] {
        bots[role] = SimulatedBot(
          RoomSignalling(room: "1", role: role), name: "\(role)\(round)x", database: &database, now: now)
        // A reader may be late.
        for _ in 0..<Int.random(in: 1...20, using: &generator) { poll(&bots, &database, &now) }
      }
      for _ in 0..<(4 * 15) { poll(&bots, &database, &now) }
      #expect(bots[.host]?.remoteFragment != nil)
      #expect(bots[.host]?.remoteFragment == bots[.guest]?.localFragment)
      #expect(bots[.guest]?.remoteFragment == bots[.host]?.localFragment)
      #expect(bots[.host]?.hasCandidates == true)
      #expect(bots[.guest]?.hasCandidates == true)
    }
  }

  private func poll(
    _ bots: inout [RoomSignalling.Role: SimulatedBot<RoomSignalling>], _ database: inout MemoryDatabase,
    _ now: inout MonotonicInstant
  ) {
    for role in RoomSignalling.Role.allCases {
      now += .milliseconds(125)
      guard var bot = bots[role] else { continue }
      bot.poll(&database, now: now)
      bots[role] = bot
    }
  }
}
