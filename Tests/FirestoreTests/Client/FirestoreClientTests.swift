import Firestore
import Foundation
import Media
import Signalling
import TestSupport
import Testing

@Suite("Firestore client", .timeLimit(.minutes(2)))
struct FirestoreClientTests {
  @Test("two clients find a room by its name, take the two roles and exchange descriptions and candidates")
  func automaticRoles() async throws {
    let server = try FirestoreServer()
    let host = RealBot(try server.client("firestore://p/rooms/demo?create=yes"), name: "host")
    try await host.start()
    #expect(await host.waits { if case .joined("host", others: let others) = $0 { others.count == 1 } else { false } })
    let store = try server.store()
    let room = try #require(try await store.list(CollectionPath("rooms")).first?.path.id)
    // The second one looks for the offer.
    while try await store.get(ConnectionDocuments.room(room, role: "host").description) == nil {
      try await Task.sleep(for: .milliseconds(50))
    }
    let guest = RealBot(try server.client("firestore://p/rooms/demo"), name: "guest")
    try await guest.start()
    #expect(await guest.waits { if case .joined("guest", others: []) = $0 { true } else { false } })
    #expect(await host.waits { if case .message(.answer, from: "guest") = $0 { true } else { false } })
    #expect(await host.waits { if case .message(.candidate, from: "guest") = $0 { true } else { false } })
    #expect(await guest.waits { if case .message(.candidate, from: "host") = $0 { true } else { false } })
    await guest.client.leave()
    #expect(await host.waits { if case .participantLeft("guest", _) = $0 { true } else { false } })
    await host.client.leave()
    #expect(await guest.waitsForEnd())
    #expect(await host.waitsForEnd())
    // Only the room is left.
    #expect(try await server.documents().contains("/sdp") == false)
  }

  @Test("two persons call each other, and the one who is called notices that the caller hung up")
  func persons() async throws {
    let server = try FirestoreServer()
    let tom = RealBot(try server.client("firestore://p/people/tom?peer=jerry"), name: "tom")
    let jerry = RealBot(try server.client("firestore://p/people/jerry?peer=tom&role=caller"), name: "jerry")
    try await tom.start()
    try await jerry.start()
    #expect(await jerry.waits { if case .message(.answer, from: "tom") = $0 { true } else { false } })
    #expect(await tom.waits { if case .message(.candidate, from: "jerry") = $0 { true } else { false } })
    await jerry.client.leave()
    #expect(await tom.waits { if case .participantLeft("jerry", _) = $0 { true } else { false } })
    await tom.client.leave()
    #expect(try await server.control().contains("\"documents\": {}"))
  }

  @Test("a missing room, a port where nobody listens and wrong credentials are errors of the connect")
  func cannotConnect() async throws {
    let server = try FirestoreServer()
    await #expect(
      throws: SignallingConnectError.rejected("A room with the id or name \"x\" does not exist in Firestore.")
    ) {
      try await server.client("firestore://p/rooms/x").connect()
    }
    try await server.control(#"{"require": ["right"]}"#)
    let client = try server.client("firestore://p/rooms/x?create=yes")
    let refused = await #expect(throws: SignallingConnectError.self) { try await client.connect() }
    if case .unauthorized = refused {} else { Issue.record("\(String(describing: refused))") }
    // It may be tried again.
    try await server.control(#"{"require": null}"#)
    try await client.connect()
    await client.leave()
    let port = server.port
    server.stop()
    var options = server.options
    options.connectTimeout = .seconds(2)
    let lost = try server.client("firestore://p/rooms/x", options: options)
    let unreachable = await #expect(throws: SignallingConnectError.self) { try await lost.connect() }
    if case .unreachable(let sentence) = unreachable {
      #expect(sentence.contains("\(port)"))
    } else {
      Issue.record("\(String(describing: unreachable))")
    }
  }

  @Test("a call goes on while the server is lost, and the client joins again")
  func serverLost() async throws {
    let server = try FirestoreServer()
    let host = RealBot(try server.client("firestore://p/rooms/r?create=yes&role=host"), name: "host")
    try await host.start()
    let guest = RealBot(try server.client("firestore://p/rooms/r?role=guest"), name: "guest")
    try await guest.start()
    #expect(await host.waits { if case .message(.candidate, from: "guest") = $0 { true } else { false } })
    try await server.control(#"{"status": 503, "retryAfter": 1}"#)
    #expect(await host.waits { if case .connectionLost(_, let delay) = $0 { delay >= .seconds(1) } else { false } })
    #expect(await guest.waits { if case .connectionLost = $0 { true } else { false } })
    try await server.control(#"{"status": null}"#)
    for bot in [host, guest] {
      let end = ContinuousClock.now + .seconds(10)
      while ContinuousClock.now < end,
        await bot.events.filter({ if case .joined = $0 { true } else { false } }).count < 2
      {
        try await Task.sleep(for: .milliseconds(50))
      }
      let events = await bot.events
      guard case .joined(_, let others)? = events.last(where: { if case .joined = $0 { true } else { false } }) else {
        Issue.record("\(events)")
        continue
      }
      #expect(others.count == 1)
      #expect(!events.contains { if case .participantLeft = $0 { true } else { false } })
    }
    await guest.client.leave()
    await host.client.leave()
  }

  @Test("a room that is deleted and credentials that are withdrawn end the signalling")
  func closed() async throws {
    let server = try FirestoreServer()
    var options = server.options
    options.roomInterval = .milliseconds(300)
    let first = RealBot(try server.client("firestore://p/rooms/r?create=yes", options: options))
    try await first.start()
    try await server.control(#"{"clear": true}"#)
    #expect(await first.waits { if case .closed = $0 { true } else { false } })
    #expect(await first.waitsForEnd())
    let second = RealBot(try server.client("firestore://p/people/a?peer=b", options: options))
    try await second.start()
    try await server.control(#"{"require": []}"#)
    #expect(await second.waits { if case .rejected(let reason) = $0 { reason.contains("credentials") } else { false } })
    #expect(await second.waitsForEnd())
    await second.client.leave()
  }

  @Test(
    "a server that lies makes the client wait, and does no harm",
    arguments: [
      "paging", "huge", "fields", "json", "html", "time",
    ])
  func lies(_ kind: String) async throws {
    let server = try FirestoreServer()
    let bot = RealBot(try server.client("firestore://p/rooms/r?create=yes&role=host"))
    try await bot.start()
    try await server.control(#"{"lie": "\#(kind)"}"#)
    try await Task.sleep(for: .milliseconds(800))
    try await server.control(#"{"lie": null}"#)
    let guest = RealBot(try server.client("firestore://p/rooms/r?role=guest"), name: "guest")
    try await guest.start()
    #expect(await bot.waits(for: .seconds(20)) { if case .message(.answer, _) = $0 { true } else { false } })
    await guest.client.leave()
    await bot.client.leave()
    // A client that comes while the server lies fails or joins, within its time-out.
    try await server.control(#"{"lie": "\#(kind)"}"#)
    let late = try server.client("firestore://p/rooms/r?role=guest")
    try? await late.connect()
    await late.leave()
  }

  @Test("after 20 joins and leaves only the room is left in the database")
  func joinsAndLeaves() async throws {
    let server = try FirestoreServer()
    for index in 0..<20 {
      let host = RealBot(try server.client("firestore://p/rooms/r?create=yes&role=host"), name: "h\(index)x")
      let guest = RealBot(try server.client("firestore://p/rooms/r?role=guest"), name: "g\(index)x")
      try await host.start()
      try await guest.start()
      #expect(await host.waits { if case .message(.answer, _) = $0 { true } else { false } })
      await guest.client.leave()
      await host.client.leave()
    }
    #expect(try await server.documents().contains("/sdp") == false)
    #expect(try await server.documents().contains("/candidate/") == false)
  }

  @Test("a database that restarts without its documents is filled again, and the two sides connect again")
  func restart() async throws {
    var server = try FirestoreServer(port: ServerPort.unused())
    var options = server.options
    // The room itself is not there any more.
    options.roomInterval = .seconds(600)
    let host = RealBot(
      try server.client("firestore://p/rooms/r?create=yes&role=host", options: options), name: "host")
    let guest = RealBot(try server.client("firestore://p/rooms/r?role=guest", options: options), name: "guest")
    try await host.start()
    try await guest.start()
    #expect(await host.waits { if case .message(.answer, _) = $0 { true } else { false } })
    let former = await host.remoteFragment
    let port = server.port
    server.stop()
    #expect(await host.waits { if case .connectionLost = $0 { true } else { false } })
    server = try FirestoreServer(port: port)
    let end = ContinuousClock.now + .seconds(20)
    while ContinuousClock.now < end {
      let remote = await host.remoteFragment
      if let remote, remote != former, await guest.localFragment == remote { break }
      try await Task.sleep(for: .milliseconds(50))
    }
    #expect(await host.remoteFragment != former)
    #expect(await host.remoteFragment == (await guest.localFragment))
    #expect(await host.localFragment == (await guest.remoteFragment))
    await guest.client.leave()
    await host.client.leave()
  }

  @Test("leave returns although the server does not respond, and deletes the documents if it does")
  func leave() async throws {
    let server = try FirestoreServer()
    var options = server.options
    options.leaveTimeout = .milliseconds(500)
    let bot = RealBot(try server.client("firestore://p/rooms/r?create=yes&role=host", options: options))
    try await bot.start()
    try await server.control(#"{"status": 500}"#)
    let start = ContinuousClock.now
    await bot.client.leave()
    #expect(ContinuousClock.now - start < .seconds(5))
    #expect(await bot.waitsForEnd())
  }
}
