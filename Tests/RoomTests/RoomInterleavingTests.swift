import TestSupport
import Testing

@Suite("Rooms whose members join and lose the server in every order")
struct RoomInterleavingTests {
  private func pairs(_ members: [Int]) -> [(Int, Int)] {
    members.flatMap { one in members.filter { $0 > one }.map { (one, $0) } }
  }

  private func verify(_ room: ModelRoom, _ members: [Int], _ what: String) {
    let apart = pairs(members).filter { !room.areConnected($0, $1) }
    #expect(apart.isEmpty, "\(what): these are not connected: \(apart).")
    #expect(room.violations.isEmpty, "\(what): \(room.violations)")
    #expect(room.members.allSatisfy { $0.end == nil })
  }

  @Test(
    "three members are connected in each order of joining, one after the other and at once",
    arguments: [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]])
  func order(members: [Int]) {
    for interval in [Duration.seconds(2), .milliseconds(100), .zero] {
      var room = ModelRoom(members: 3, seed: 7)
      for (index, member) in members.enumerated() { room.join(member, after: interval * index) }
      room.run(for: .seconds(10))
      verify(room, members, "order \(members), interval \(interval)")
    }
  }

  @Test("members who never answer hinder nobody")
  func silent() {
    var room = ModelRoom(members: 6, silent: 2, seed: 3)
    for member in 0..<6 { room.join(member, after: .milliseconds(30) * member) }
    room.run(for: .seconds(60))
    verify(room, [2, 3, 4, 5], "two silent members")
  }

  @Test(
    "when the server is lost and comes back, with the same ids or with others, everyone is connected again",
    arguments: [false, true])
  func server(asSomeoneElse: Bool) {
    for seed in UInt64(0)..<200 {
      var room = ModelRoom(members: 4, seed: seed)
      for member in 0..<4 { room.join(member, after: .milliseconds(200) * member) }
      // While connections are being established, or after that.
      room.run(for: .milliseconds(300 + Int(seed) * 10))
      for member in 0..<4 { room.lose(member) }
      for member in 0..<4 { room.join(member, after: .milliseconds(500), asSomeoneElse: asSomeoneElse) }
      room.run(for: .seconds(100))
      verify(room, [0, 1, 2, 3], "seed \(seed)")
    }
  }

  @Test(
    "in 10,000 random interleavings everyone is connected in the end, and nobody has two offers in flight",
    arguments: 0..<10)
  func interleavings(part: Int) {
    for seed in UInt64(part * 1_000)..<UInt64(part * 1_000 + 1_000) {
      var generator = SeededGenerator(seed: seed)
      let count = Int.random(in: 2...4, using: &generator)
      var room = ModelRoom(members: count, seed: seed)
      for member in 0..<count { room.join(member, after: .milliseconds(Int.random(in: 0...800, using: &generator))) }
      for _ in 0..<Int.random(in: 0...4, using: &generator) {
        room.run(for: .milliseconds(Int.random(in: 1...900, using: &generator)))
        let member = Int.random(in: 0..<count, using: &generator)
        room.lose(member)
        let wait = Duration.milliseconds(Int.random(in: 1...900, using: &generator))
        room.join(member, after: wait, asSomeoneElse: Bool.random(using: &generator))
      }
      room.run(for: .seconds(150))
      verify(room, Array(0..<count), "seed \(seed)")
    }
  }
}
