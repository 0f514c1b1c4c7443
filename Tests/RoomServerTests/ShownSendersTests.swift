import Media
import RoomServer
import Testing

@Suite("Which participant a player of WHEP sees")
struct ShownSendersTests {
  private let anna = ParticipantID("1")
  private let bob = ParticipantID("2")
  private let player = ParticipantID("player")

  /// Anna and Bob send, Bob first.
  private func room(wants wanted: String?) -> ShownSenders {
    var room = ShownSenders()
    room.add(player, wants: wanted)
    room.joined([(anna, "Anna"), (bob, "Bob")])
    _ = room.received(from: bob)
    _ = room.received(from: anna)
    return room
  }

  @Test("the one that it names by id or name, else the first", arguments: [(nil, "2"), ("1", "1"), ("Anna", "1")])
  func choice(wanted: String?, shown: String) {
    var room = room(wants: wanted)
    #expect(room.shown(to: player) == ParticipantID(shown))
    #expect(room.all.map(\.id) == [bob, anna] && room.all.map(\.name) == ["Bob", "Anna"])
    room.ended(ParticipantID(shown))
    #expect(room.shown(to: player) == (wanted == nil ? anna : nil))
  }

  @Test("a participant whose WebSocket drops is shown as long as they send, also to later players")
  func webSocketDrops() {
    var room = room(wants: "Anna")
    room.left(anna)
    let isFirst = room.received(from: anna)
    #expect(!isFirst && room.shown(to: player) == anna)
    let later = ParticipantID("later")
    room.add(later, wants: "Anna")
    #expect(room.shown(to: later) == anna && Set(room.players(of: anna)) == [player, later])
    room.ended(anna)
    #expect(room.shown(to: player) == nil && room.allShown.isEmpty)
    _ = room.received(from: anna)
    #expect(room.shown(to: player) == nil, "the name of one who has left and ended is not kept")
  }

  @Test("a participant whose media arrives before their name is shown when the name is known")
  func lateName() {
    var room = room(wants: "Carl")
    let carl = ParticipantID("3")
    _ = room.received(from: carl)
    #expect(room.shown(to: player) == nil)
    room.entered(carl, name: "Carl")
    #expect(room.shown(to: player) == carl)
  }

  @Test("senders keep their names when the listener joins the room again")
  func rejoined() {
    var room = room(wants: "Anna")
    room.joined([(bob, "Bob")])
    #expect(room.shown(to: player) == anna)
  }

  @Test("the wanted name is cleaned as the names in the room are", arguments: ["Anna", "  Anna\t", "An\u{200B}na"])
  func cleaned(wanted: String) {
    #expect(room(wants: wanted).shown(to: player) == anna)
    #expect(room(wants: "\u{200B}").shown(to: player) == nil, "a name of which nothing is left is that of nobody")
  }
}
