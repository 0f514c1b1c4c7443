import Firestore
import Media
import Signalling
import Testing

/// The six orders of the iOS app's own tests, over HTTP.
@Suite("Firestore rooms over the REST API", .timeLimit(.minutes(3)))
struct RealConnectionOrderTests {
  enum Order: CaseIterable {
    case simultaneous, guestFirst, hostFirst, hostReturns, guestReturns, crash
  }

  @Test("the bot and the app connect", arguments: RoomSignalling.Role.allCases, Order.allCases)
  func connects(role: RoomSignalling.Role, order: Order) async throws {
    let server = try FirestoreServer()
    let store = try server.store()
    let room = try await store.add(to: CollectionPath("rooms"), ["name": .string("Unit test")]).path.id
    let description = ConnectionDocuments.room(room, role: try FirestoreID(role.rawValue)).description
    let address = "firestore://p/rooms/Unit%20test?role=\(role.rawValue)"
    var options = server.options
    if order == .crash { options.credentials = FirestoreServer.credentials }
    var bot = RealBot(try server.client(address, options: options), name: "bot1x")
    var app = RealApp(role.other, room: room, store: store)
    await app.setPeer(bot)
    let appIsFirst = order == .guestFirst && role == .host || order == .hostFirst && role == .guest
    var running = Task { [app] in if appIsFirst { try await app.run() } }
    if appIsFirst { try await Task.sleep(for: .seconds(1)) }
    try await bot.start()
    if order != .simultaneous, !appIsFirst { try await Task.sleep(for: .seconds(1)) }
    if !appIsFirst { running = Task { [app] in try await app.run() } }
    #expect(await connects(app))
    switch order {
    case .simultaneous, .guestFirst, .hostFirst: break
    case .hostReturns where role == .host, .guestReturns where role == .guest:
      await bot.client.leave()
      await app.setPeer(nil)
      try await Task.sleep(for: .seconds(1))
      bot = RealBot(try server.client(address), name: "bot2x")
      await app.setPeer(bot)
      try await bot.start()
      #expect(await connects(app))
    case .crash:
      // The documents of a crashed bot stay; another process replaces it.
      #expect(try await server.crash(bot))
      #expect(try await store.get(description) != nil)
      bot = RealBot(try server.client(address), name: "bot2x")
      await app.setPeer(bot)
      try await bot.start()
      #expect(await connects(app))
    case .hostReturns, .guestReturns:
      await app.stop()
      try await running.value
      try await Task.sleep(for: .seconds(1))
      app = RealApp(role.other, room: room, store: store)
      await app.setPeer(bot)
      running = Task { [app] in try await app.run() }
      #expect(await connects(app))
    }
    await bot.client.leave()
    await app.stop()
    try await running.value
    #expect(try await store.get(description) == nil)
    store.close()
  }

  @Test("of two programs without a role that start at once, one becomes the host and the other its guest")
  func withoutRoles() async throws {
    let server = try FirestoreServer()
    let store = try server.store()
    for round in 0..<4 {
      let address = "firestore://p/rooms/room\(round)?create=yes"
      let bots = [
        RealBot(try server.client(address), name: "one\(round)x"),
        RealBot(try server.client(address), name: "two\(round)x"),
      ]
      async let first: Void = bots[0].start()
      async let second: Void = bots[1].start()
      _ = try await (first, second)
      let end = ContinuousClock.now + .seconds(15)
      var isConnected = false
      while !isConnected, ContinuousClock.now < end {
        try await Task.sleep(for: .milliseconds(20))
        let locals = await [bots[0].localFragment, bots[1].localFragment]
        let remotes = await [bots[1].remoteFragment, bots[0].remoteFragment]
        isConnected = !locals.contains(nil) && locals == remotes
      }
      #expect(isConnected)
      var roles: [String] = []
      for bot in bots {
        let own = await bot.events.compactMap { event in
          if case .joined(let id, _) = event { id.text } else { nil }
        }
        roles.append(own.last ?? "")
      }
      #expect(roles.sorted() == ["guest", "host"])
      // The guest's end does not delete what the host has written.
      let guest = roles[0] == "guest" ? 0 : 1
      await bots[guest].client.leave()
      #expect(await bots[1 - guest].waits { $0 == .participantLeft("guest", isRejoinVerified: false) })
      await bots[1 - guest].client.leave()
      let documents = try await server.documents()
      #expect(!documents.contains("room\(round)/"), "all have deleted what they wrote: \(documents)")
    }
    store.close()
  }

  /// Waits until the app and its present peer have each other's present description and candidates.
  private func connects(_ app: RealApp) async -> Bool {
    let end = ContinuousClock.now + .seconds(40)
    while ContinuousClock.now < end {
      if await app.isConnected { return true }
      try? await Task.sleep(for: .milliseconds(50))
    }
    return false
  }
}
