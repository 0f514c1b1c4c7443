import Firestore
import Media
import Signalling
import TestSupport
import Testing

/// A bot and an app in a room of a database in memory, in steps of 10 ms.
struct SimulatedCall {
  private var database = MemoryDatabase()
  private let botRole: RoomSignalling.Role
  private let appTimeout: Duration
  private let maximumDelay: Duration
  private var bot: SimulatedBot<RoomSignalling>?
  private var app: SimulatedAppClient?
  private var generator: SeededGenerator
  private var now = MonotonicInstant.now
  private var nextPoll = MonotonicInstant.now
  private var nextStep = MonotonicInstant.now
  private var requests: [(SimulatedAppClient.Request, RoomSignalling.Role)] = []
  private var botCount = 0
  private var lastTick = 0
  /// How often both sides became connected.
  private(set) var connectionCount = 0
  private(set) var isConnected = false

  /// - Parameter maximumDelay: how much later than planned each side acts at most, as on a busy machine.
  init(bot: RoomSignalling.Role, seed: Int, maximumDelay: Duration = .zero) {
    botRole = bot
    self.maximumDelay = maximumDelay
    appTimeout = seed.isMultiple(of: 2) ? .seconds(4) : .seconds(12)
    generator = SeededGenerator(seed: UInt64(seed) &* 2 &+ (bot == .host ? 0 : 1))
  }

  mutating func delay() -> Duration { .milliseconds(Int.random(in: 1_000...5_000, using: &generator)) }

  mutating func start(_ role: RoomSignalling.Role) {
    if role == botRole { startBot() } else { startApp() }
  }

  mutating func startBot() {
    botCount += 1
    nextPoll = now + .milliseconds(Int.random(in: 0..<250, using: &generator))
    bot = SimulatedBot(
      RoomSignalling(room: "1", role: botRole), name: "bot\(botCount)x", database: &database, now: now)
  }

  mutating func startApp() {
    app = SimulatedAppClient(role: botRole.other, exchangeTimeout: appTimeout)
    nextStep = now + .milliseconds(Int.random(in: 0..<200, using: &generator))
  }

  mutating func stopBot(crashes: Bool) {
    if !crashes { bot?.leave(&database) }
    bot = nil
    isConnected = false
  }

  /// The app leaves its documents behind.
  mutating func stopApp() {
    app = nil
    requests = []
  }

  mutating func wait(_ duration: Duration) {
    let end = now + duration
    while now < end { tick() }
  }

  mutating func expectConnected(
    within limit: Duration = .seconds(60), sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let end = now + limit
    // The networks need a moment to find each other, and a connection must last.
    while now < end, !isConnected { tick() }
    #expect(isConnected, "not connected within \(limit)", sourceLocation: sourceLocation)
    wait(.seconds(2))
    #expect(isConnected, "the connection did not last", sourceLocation: sourceLocation)
  }

  private mutating func tick() {
    now += .milliseconds(10)
    lastTick += 1
    if lastTick.isMultiple(of: 100) { database.advance(seconds: 1) }
    if var bot, now >= nextPoll {
      bot.poll(&database, now: now)
      self.bot = bot
      nextPoll = now + .milliseconds(250 + Int.random(in: 0..<60, using: &generator)) + lateness()
    }
    stepApp()
    connect()
  }

  private mutating func lateness() -> Duration {
    maximumDelay == .zero ? .zero : maximumDelay * Double.random(in: 0...1, using: &generator)
  }

  private mutating func stepApp() {
    guard var app else { return }
    // One request after another, each of which takes 10 to 50 ms.
    if !requests.isEmpty, Int.random(in: 0..<3, using: &generator) == 0 {
      let (request, role) = requests.removeFirst()
      apply(request, of: role)
    }
    guard now >= nextStep, requests.isEmpty else { return }
    nextStep = now + SimulatedAppClient.interval + lateness()
    let other = ConnectionDocuments.room("1", role: app.role == .host ? "guest" : "host")
    let view = SimulatedAppClient.View(
      description: database[other.description].flatMap { try? StoredDescription(parsing: $0) },
      candidates: database.list(other.candidates).compactMap { try? StoredCandidate(parsing: $0) })
    let role = app.role
    requests += app.step(view, now: now).map { ($0, role) }
    self.app = app
  }

  private mutating func apply(_ request: SimulatedAppClient.Request, of role: RoomSignalling.Role) {
    let own = ConnectionDocuments.room("1", role: role == .host ? "host" : "guest")
    switch request {
    case .clear: database.commit(own.clearing(existing: database.list(own.candidates).map(\.path)))
    case .set(let kind, let sdp): database.commit([.set(own.description, StoredDescription.fields(kind, sdp: sdp))])
    case .add(let candidate):
      let id = FirestoreID(stringLiteral: "auto\(UInt32.random(in: 0...UInt32.max, using: &generator))")
      database.commit([.set(own.candidates.document(id), StoredCandidate.fields(candidate))])
    }
  }

  /// Both are connected when each has the description and candidates of the other's present connection.
  private mutating func connect() {
    let fits =
      if let bot, let app, let local = bot.localFragment, let remote = app.localFragment {
        bot.remoteFragment == remote && app.remoteFragment == local && bot.hasCandidates && app.hasCandidates
      } else { false }
    app?.isConnected = fits
    if fits, !isConnected { connectionCount += 1 }
    isConnected = fits
  }
}
