import Composition
import Media
import Testing

@Suite("the layout of a plan")
struct PlannedLayoutTests {
  private func plan() -> CompositionPlan {
    let second = Sample.second
    var plan = CompositionPlan(room: "100", start: 0, duration: 10 * second)
    plan.users = [
      PlannedUser(ids: ["id-0", "id-9"], name: "Ann", label: "Dr. Ann", presence: [0..<10 * second]),
      PlannedUser(ids: ["id-1"], name: nil, label: "id-1", presence: [second..<6 * second]),
    ]
    let shown = PictureState.frames
    plan.tiles = [
      PlannedTile(
        user: 0, stream: 1, isScreen: false, label: "Dr. Ann", recordings: [],
        spans: [
          .init(start: 0, end: 2 * second, state: shown), .init(start: 2 * second, end: 5 * second, state: .absent),
          .init(start: 5 * second, end: 10 * second, state: .nameTile(.noVideo)),
        ]),
      PlannedTile(
        user: 1, stream: 1, isScreen: false, label: "id-1", recordings: [],
        spans: [.init(start: second, end: 6 * second, state: shown)]),
      PlannedTile(
        user: 1, stream: 2, isScreen: true, label: "id-1", recordings: [],
        spans: [.init(start: 3 * second, end: 4 * second, state: shown)]),
    ]
    return plan
  }

  @Test("a user is known by each id, by the name and by the label")
  func names() {
    let plan = plan()
    #expect(plan.layoutTiles.map(\.names) == [["id-0", "id-9", "Ann", "Dr. Ann"], ["id-1"], ["id-1"]])
    for name: UntrustedText in ["id-9", "Ann", "Dr. Ann", "id-1"] {
      #expect(LayoutChoice.only(name).problem(for: plan.layoutTiles) == nil)
    }
    #expect(LayoutChoice.presenter("Bob").problem(for: plan.layoutTiles) != nil)
  }

  @Test("a tile that is absent for a while gives up its place, and a screen is large for exactly its frames")
  func changes() {
    let schedule = plan().schedule(of: .speaker, size: Sample.size, speech: [], speakers: [], rate: .standard)
    let changes = schedule.map { change in
      "\(change.frame): \(change.placements.map { "\($0.tile)" }.joined(separator: " "))"
    }
    #expect(changes == ["0: 0", "30: 0 1", "60: 1", "90: 2 1", "120: 1", "150: 0 1", "180: 0", "300: "])
  }

  @Test("a tile of a user who is not in the plan has no names and is placed nevertheless")
  func stranger() {
    var plan = plan()
    plan.tiles[0].user = 7
    #expect(plan.layoutTiles[0].names == [])
    let schedule = plan.schedule(of: .grid, size: Sample.size, speech: [], speakers: [], rate: .standard)
    #expect(schedule.first { _ in true }?.placements.map(\.tile) == [0])
  }
}
