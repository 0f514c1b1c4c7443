import Composition
import Media
import RecordedCalls
import Testing

/// What plans of synthetic calls say about tiles, beside what was sent.
@Suite("plans of calls") struct CallPictureTests {
  /// Returns the looks of a user's first tile in each output frame, as the first frame of each look.
  private static func looks(_ planned: PlannedCall, of id: String) throws -> [(frame: Int64, look: PictureLook)] {
    let user = try #require(planned.user(id))
    let tile = try #require(planned.plan.tiles.first { $0.user == user && !$0.isScreen })
    var looks: [(frame: Int64, look: PictureLook)] = []
    for frame in 0...FrameRate.standard.lastFrame(at: planned.plan.duration) {
      let look = tile.spans.look(at: FrameRate.standard.time(ofFrame: frame))
      if looks.last?.look != look { looks.append((frame, look)) }
    }
    return looks
  }

  @Test("each reason of a gap has its look in the frames of the document")
  func gaps() async throws {
    let planned = try await PlannedCall(.gaps(10))
    for (index, reason) in RecordedCall.gapReasons.enumerated() {
      let looks = try Self.looks(planned, of: "gap-\(index)").filter { $0.frame > 0 && $0.frame < 299 }
      let expected: [(Int64, PictureLook)]
      switch reason {
      case .senderPaused: expected = [(150, .nameTile), (210, .frame)]
      case .muted: expected = [(90, .nameTile), (210, .frame)]
      case .reconnect: expected = [(120, .reconnecting), (210, .frame)]
      default: expected = [(150, .dimmed), (210, .frame)]
      }
      #expect(looks.map(\.frame) == expected.map(\.0) && looks.map(\.look) == expected.map(\.1), "\(reason): \(looks)")
    }
    #expect(try Self.looks(planned, of: "dtx").filter { $0.frame < 299 }.map(\.look) == [.frame])
    #expect(try Self.looks(planned, of: "no-video").filter { (1..<299).contains($0.frame) }.map(\.look) == [.nameTile])
    #expect(planned.plan.problems.isEmpty, "\(planned.plan.problems)")
  }

  @Test("who returns under another id has the same tile, and none in between")
  func returning() async throws {
    let planned = try await PlannedCall(.visits(20))
    #expect(planned.plan.users.count == 3 && planned.plan.tiles.count == 3)
    let bob = try #require(planned.plan.tiles.first { $0.user == planned.user("b2") })
    #expect(bob.presence.count == 2 && bob.recordings.count == 2)
    let frames = bob.presence.map { FrameRate.standard.firstFrame(at: $0.lowerBound) }
    #expect(frames == [101, 421])
  }

  @Test("users whose clocks differ drift apart by that difference, and by no more")
  func drift() async throws {
    let planned = try await PlannedCall(.drift(60, difference: 800))
    let ends = planned.plan.tiles.map { Double($0.end) / 720_000 }
    try #require(ends.count == 2)
    // The recorder hears the end of both at the same moment.
    #expect(abs(ends[0] - ends[1] - 60 * 800e-6) < 0.035, "\(ends)")
  }

  @Test("200 users are planned, and one more is refused")
  func crowd() async throws {
    let planned = try await PlannedCall(.crowd(199))
    #expect(planned.plan.users.count == 200)
    await #expect(throws: CompositionError.self) { try await PlannedCall(.crowd(200)) }
  }
}
