import Firestore
import Media
import Signalling
import Testing

@Suite("Signalling between two persons in Firestore")
struct PersonSignallingTests {
  private let start = MonotonicInstant.now

  private func app(
    _ kind: StoredDescription.Kind, _ fragment: String, for name: FirestoreID, in database: inout MemoryDatabase
  ) {
    // The app writes the description first, its candidates later, and never deletes old ones.
    let side = ConnectionDocuments.person(name)
    database.commit([
      .set(side.description, StoredDescription.fields(kind, sdp: TestDescription.sdp(fragment, candidates: [])))
    ])
    for (index, candidate) in TestDescription.candidates(fragment).enumerated() {
      let id = FirestoreID(stringLiteral: "\(fragment)\(index)")
      database.commit([.set(side.candidates.document(id), StoredCandidate.fields(candidate))])
    }
  }

  /// What the app does when its user ends the call: it deletes its own description, but no candidates.
  private func hangUp(_ name: FirestoreID, in database: inout MemoryDatabase) {
    database.commit([.delete(ConnectionDocuments.person(name).description)])
  }

  private func fragment(_ name: FirestoreID, in database: MemoryDatabase) -> String? {
    database[ConnectionDocuments.person(name).description].flatMap {
      try? StoredDescription(parsing: $0).usernameFragment
    }
  }

  @Test("the app calls, the bot answers with its best candidate first; a second call follows the hang-up")
  func called() throws {
    var database = MemoryDatabase()
    app(.offer, "stale", for: "tom", in: &database)
    var bot = SimulatedBot(PersonSignalling(me: "tom", peer: "jerry", role: .callee), database: &database, now: start)
    #expect(database.documents.isEmpty)
    bot.poll(&database, now: start)
    #expect(bot.events == [.joined(id: "tom", others: [])])
    for (round, name) in ["one", "two"].enumerated() {
      let now = start + .seconds(round * 10)
      app(.offer, name, for: "tom", in: &database)
      bot.poll(&database, now: now)
      #expect(bot.remoteFragment == name)
      #expect(bot.hasCandidates)
      #expect(fragment("jerry", in: database) == bot.localFragment)
      let first = try #require(database.list(ConnectionDocuments.person("jerry").candidates).first)
      let best = try StoredCandidate(parsing: first).candidate.candidate
      #expect(best.contains("2122260223"))
      hangUp("jerry", in: &database)
      bot.poll(&database, now: now + .seconds(1))
      #expect(bot.events.last == .participantLeft("jerry", isRejoinVerified: false))
      #expect(database.documents.isEmpty)
    }
    #expect(bot.events.filter { if case .participantJoined = $0 { true } else { false } }.count == 2)
  }

  @Test("the bot calls, and calls again with a new connection when the app hung up")
  func calls() {
    var database = MemoryDatabase()
    var bot = SimulatedBot(PersonSignalling(me: "tom", peer: "jerry", role: .caller), database: &database, now: start)
    #expect(fragment("jerry", in: database) == "bot1")
    app(.answer, "one", for: "tom", in: &database)
    bot.poll(&database, now: start)
    #expect(bot.remoteFragment == "one")
    hangUp("jerry", in: &database)
    bot.poll(&database, now: start + .seconds(60))
    #expect(fragment("jerry", in: database) == "bot2")
    bot.poll(&database, now: start + .seconds(61))
    #expect(bot.remoteFragment == nil)
    bot.leave(&database)
    #expect(database.documents.isEmpty)
  }

  @Test("an unanswered call is renewed every 20 s")
  func renews() {
    var database = MemoryDatabase()
    var bot = SimulatedBot(PersonSignalling(me: "tom", peer: "jerry", role: .caller), database: &database, now: start)
    for second in 1...65 { bot.poll(&database, now: start + .seconds(second)) }
    #expect(fragment("jerry", in: database) == "bot4")
  }

  @Test("a person who waits to be called does not call")
  func calleeOffers() {
    var database = MemoryDatabase()
    var bot = SimulatedBot(PersonSignalling(me: "tom", peer: "jerry", role: .callee), database: &database, now: start)
    bot.send(.offer(TestDescription.sdp("x", candidates: TestDescription.lines)), to: "jerry", now: start)
    for second in 1...30 { bot.poll(&database, now: start + .seconds(second)) }
    #expect(bot.events == [.joined(id: "tom", others: [])])
    #expect(database.documents.isEmpty)
  }

  @Test("an offer from another connection replaces the call")
  func replaced() {
    var database = MemoryDatabase()
    var bot = SimulatedBot(PersonSignalling(me: "tom", peer: "jerry", role: .callee), database: &database, now: start)
    app(.offer, "one", for: "tom", in: &database)
    bot.poll(&database, now: start)
    app(.offer, "two", for: "tom", in: &database)
    bot.poll(&database, now: start + .seconds(1))
    #expect(bot.remoteFragment == "two")
    #expect(fragment("jerry", in: database) == "bot2")
    let candidates = bot.events.compactMap { event -> String? in
      if case .message(.candidate(let candidate), _) = event { candidate.candidate } else { nil }
    }
    #expect(candidates.filter { $0.hasSuffix("one") }.count == 3)
    #expect(candidates.filter { $0.hasSuffix("two") }.count == 3)
  }
}
