import SkyRTC
import Testing

@Suite("Rooms")
struct RoomsTests {
  @Test("members are notified of a newcomer before the newcomer receives their ids")
  func join() throws {
    var rooms = Rooms()
    #expect(try rooms.join("a", room: "1") == [.init(to: "a", message: .peers(you: "a", others: []))])
    _ = try rooms.join("b", room: "1")
    #expect(
      try rooms.join("c", room: "1") == [
        .init(to: "a", message: .joined("c")), .init(to: "b", message: .joined("c")),
        .init(to: "c", message: .peers(you: "c", others: ["a", "b"])),
      ])
  }

  @Test("joining the same room again only repeats the list of members")
  func joinTwice() throws {
    var rooms = Rooms()
    _ = try rooms.join("a", room: "1")
    _ = try rooms.join("b", room: "1")
    #expect(try rooms.join("a", room: "1") == [.init(to: "a", message: .peers(you: "a", others: ["b"]))])
    #expect(rooms.members(of: "1") == ["a", "b"])
    #expect(rooms.leave("a") == [.init(to: "b", message: .left("a"))])
    #expect(rooms.members(of: "1") == ["b"])
  }

  @Test("joining another room leaves the first one")
  func move() throws {
    var rooms = Rooms()
    for id in ["a", "b"] { _ = try rooms.join(id, room: "1") }
    _ = try rooms.join("c", room: "2")
    #expect(
      try rooms.join("a", room: "2") == [
        .init(to: "b", message: .left("a")), .init(to: "c", message: .joined("a")),
        .init(to: "a", message: .peers(you: "a", others: ["c"])),
      ])
    #expect(rooms.members(of: "1") == ["b"])
    #expect(rooms.room(of: "a") == "2")
  }

  @Test("a signal is delivered only within a room, and with its sender's id")
  func relay() throws {
    var rooms = Rooms()
    for (id, room) in [("a", "1"), ("b", "1"), ("c", "2")] { _ = try rooms.join(id, room: room) }
    let signal = RelayedMessage.mark("x")
    #expect(rooms.relay(signal, from: "a", to: "b") == .init(to: "b", message: .signal(signal, from: "a")))
    #expect(rooms.relay(signal, from: "a", to: "c") == nil)
    #expect(rooms.relay(signal, from: "c", to: "a") == nil)
    #expect(rooms.relay(signal, from: "a", to: "a") == nil)
    #expect(rooms.relay(signal, from: "a", to: "nobody") == nil)
    #expect(rooms.relay(signal, from: "nobody", to: "a") == nil)
    #expect(rooms.relay(signal, from: "nobody", to: "nowhere") == nil)
    _ = rooms.leave("b")
    #expect(rooms.relay(signal, from: "a", to: "b") == nil)
  }

  @Test("a room ends with its last member")
  func empty() throws {
    var rooms = Rooms()
    _ = try rooms.join("a", room: "__proto__")
    #expect(rooms.count == 1)
    #expect(rooms.leave("a") == [])
    #expect(rooms.leave("a") == [])
    #expect(rooms.count == 0)
  }

  @Test("a full room, a long name and one room too many are rejected, and no member is moved")
  func limits() throws {
    var rooms = Rooms(maximumNameCharacters: 3, maximumUsers: 2, maximumRooms: 2)
    for id in ["a", "b"] { _ = try rooms.join(id, room: "1") }
    _ = try rooms.join("c", room: "äöü")
    #expect(throws: Rooms.JoinError.roomFull(limit: 2)) { try rooms.join("c", room: "1") }
    #expect(throws: Rooms.JoinError.nameTooLong(characters: 4, limit: 3)) { try rooms.join("c", room: "1234") }
    #expect(throws: Rooms.JoinError.tooManyRooms(limit: 2)) { try rooms.join("d", room: "3") }
    #expect(rooms.room(of: "c") == "äöü")
    // A visible character of many scalars counts as many.
    let heap = "a" + String(repeating: "\u{301}", count: 1000)
    #expect(throws: Rooms.JoinError.nameTooLong(characters: 1001, limit: 3)) { try rooms.join("d", room: heap) }
    // A member of a full room may join it again.
    #expect(try rooms.join("a", room: "1") == [.init(to: "a", message: .peers(you: "a", others: ["b"]))])
  }

  @Test("after any joins and leaves, each id is in one room at most and is notified only about that room")
  func anySeries() throws {
    var generator = SystemRandomNumberGenerator()
    var rooms = Rooms(maximumUsers: 3)
    let ids = ["a", "b", "c", "d", "e", "f"]
    let names = ["1", "2", "3"]
    for _ in 0..<2000 {
      guard let id = ids.randomElement(using: &generator), let name = names.randomElement(using: &generator) else {
        return
      }
      let before = rooms
      let deliveries = Bool.random(using: &generator) ? rooms.leave(id) : (try? rooms.join(id, room: name)) ?? []
      for delivery in deliveries where delivery.to != id {
        let shared = [before, rooms].contains { $0.room(of: id) != nil && $0.room(of: id) == $0.room(of: delivery.to) }
        #expect(shared)
      }
      for id in ids {
        #expect(names.filter { rooms.members(of: $0).contains(id) } == [rooms.room(of: id)].compactMap(\.self))
      }
      for name in names { #expect(rooms.members(of: name).count <= 3) }
    }
  }

  @Test("members learn the name of a newcomer, who learns theirs; a new name is told once")
  func names() throws {
    var rooms = Rooms()
    let (ann, bob) = (ParticipantProfile(name: "Ann"), ParticipantProfile(name: "Bob", records: true))
    _ = try rooms.join("a", room: "1", profile: ann)
    let joined = try rooms.join("b", room: "1", profile: bob)
    #expect(
      joined == [
        .init(to: "a", message: .joined("b", profile: bob)),
        .init(to: "b", message: .peers(you: "b", others: ["a"], profiles: ["a": ann])),
      ])
    let silent = try rooms.join("c", room: "1")
    #expect(silent.last?.message == .peers(you: "c", others: ["a", "b"], profiles: ["a": ann, "b": bob]))

    let zoe = ParticipantProfile(name: "Zoe")
    let renamed = rooms.setProfile(zoe, of: "a")
    #expect(
      renamed == [.init(to: "b", message: .profile("a", zoe)), .init(to: "c", message: .profile("a", zoe))])
    let again = rooms.setProfile(zoe, of: "a")
    #expect(again == [], "nothing is new")
    let outside = rooms.setProfile(zoe, of: "x")
    #expect(outside == [], "in no room")
    // Joining the same room again with another name is telling it.
    let rejoined = try rooms.join("a", room: "1", profile: ann)
    #expect(
      rejoined == [
        .init(to: "b", message: .profile("a", ann)), .init(to: "c", message: .profile("a", ann)),
        .init(to: "a", message: .peers(you: "a", others: ["b", "c"], profiles: ["b": bob])),
      ])
    _ = rooms.leave("b")
    #expect(rooms.profile(of: "b").isEmpty)
    _ = try rooms.join("b", room: "1")
    let last = try rooms.join("d", room: "1")
    #expect(
      last.last?.message == .peers(you: "d", others: ["a", "c", "b"], profiles: ["a": ann]), "no name is left behind")
  }
}
