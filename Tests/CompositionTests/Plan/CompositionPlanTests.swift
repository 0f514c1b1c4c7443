import Composition
import FileSource
import Inspection
import Media
import Testing

@Suite("plans of compositions")
struct CompositionPlanTests {
  @Test("Time zero is the first frame of the first user") func zero() throws {
    let plan = try plan(
      RecordingFixture("ben").with { $0.start = 5.5 }, RecordingFixture("ann").with { $0.start = 2 })
    #expect(plan.users.map(\.label) == ["ann", "ben"])
    #expect(plan.tiles.map(\.start) == [0, units(3.5)])
    #expect(plan.tiles.map { $0.recordings.map(\.offset) } == [[0], [units(3.5)]])
    #expect(plan.duration == units(63.5))
    #expect(plan.start == RecordingFixture.zero + 2_000)
  }

  @Test("A part of a call begins at zero") func part() throws {
    let plan = try plan(
      RecordingFixture("ann"), RecordingFixture("ben").with { $0.start = 30 },
      RecordingFixture("gone").with { $0.duration = 10 }
    ) {
      $0.from = units(20)
      $0.to = units(50)
    }
    #expect(plan.duration == units(30))
    #expect(plan.users.map(\.label) == ["ann", "ben"])
    #expect(plan.tiles.map(\.presence) == [[units(0...30)], [units(10...30)]])
    #expect(plan.tiles.map { $0.recordings.map(\.offset) } == [[units(-20)], [units(10)]])
    #expect(plan.tiles.map { $0.recordings.map(\.range) } == [[units(0...30)], [units(10...30)]])
  }

  @Test("A hold that began before the part counts from its beginning") func heldBefore() throws {
    let plan = try plan(
      RecordingFixture("ann").with { $0.video?.gaps = [.init(reason: .lost, start: 10, end: 30)] }
    ) { $0.from = units(11) }
    #expect(plan.tiles[0].spans[0] == span(0, 19, .held(since: units(-1), .lost)))
    #expect(plan.tiles[0].spans.look(at: units(1)) == .dimmed)
  }

  @Test("Who returns under the same id has the same tile") func returns() throws {
    let plan = try plan(
      RecordingFixture("ann", name: "Ann").with { $0.duration = 20 }, RecordingFixture("ben"),
      RecordingFixture("ann", name: "Ann").with {
        $0.start = 30
        $0.duration = 20
      })
    #expect(plan.users.map(\.label) == ["Ann", "ben"])
    #expect(plan.tiles[0].presence == [units(0...20), units(30...50)])
    #expect(
      plan.tiles[0].spans == [span(0, 20, .frames), span(20, 30, .absent), span(30, 50, .frames)])
    #expect(plan.tiles[0].recordings.map(\.range) == [units(0...20), units(30...50)])
    #expect(plan.users[0].presence == plan.tiles[0].presence)
  }

  @Test("Who returns with another id and the same name has the same tile") func returnsByName() throws {
    let plan = try plan(
      RecordingFixture("1", name: "Ann").with { $0.duration = 20 },
      RecordingFixture("2", name: "Ann").with { $0.start = 30 })
    #expect(plan.users.map(\.ids) == [["1", "2"]])
    #expect(plan.tiles.count == 1)
  }

  @Test("Two users of one name who are there at the same time are two") func sameName() throws {
    let plan = try plan(
      RecordingFixture("1", name: "Ann"), RecordingFixture("2", name: "Ann").with { $0.start = 30 })
    #expect(plan.users.map(\.ids) == [["1"], ["2"]])
    #expect(plan.tiles.map(\.label) == ["Ann", "Ann"])
  }

  @Test("Users without names are not the same") func noNames() throws {
    let plan = try plan(
      RecordingFixture("1", name: "").with { $0.duration = 20 },
      RecordingFixture("2", name: "").with { $0.start = 30 })
    #expect(plan.users.map(\.label) == ["1", "2"])
  }

  @Test("A second recorder of the same users makes tiles of its own") func secondRecorder() throws {
    let plan = try plan(
      RecordingFixture("ann").with { $0.duration = 20 },
      RecordingFixture("ann").with {
        $0.session = "two"
        $0.duration = 20
      },
      RecordingFixture("ann").with {
        $0.session = "two"
        $0.start = 30
      },
      RecordingFixture("ann").with { $0.start = 31 })
    #expect(plan.tiles.map(\.presence) == [[units(0...20), units(31...91)], [units(0...20), units(30...90)]])
  }

  @Test("A recording ends where the next one of the same stream begins") func cut() throws {
    let plan = try plan(
      RecordingFixture("ann").with { $0.duration = 20 },
      RecordingFixture("ann").with { $0.start = 19 })
    #expect(plan.tiles[0].spans == [span(0, 79, .frames)])
    #expect(plan.tiles[0].recordings.map(\.range) == [units(0...19), units(19...79)])
    #expect(plan.sounds[0].recordings.map(\.range) == [units(0...19), units(19...79)])
  }

  @Test("Excluded users are neither seen nor heard") func excluded() throws {
    let plan = try plan(
      RecordingFixture("1", name: "recorder"), RecordingFixture("2", name: "Ben").with { $0.start = 3 },
      RecordingFixture("3", name: "Cid").with { $0.start = 4 }
    ) { $0.excluded = ["recorder", "3", "nobody"] }
    #expect(plan.users.map(\.label) == ["Ben"])
    #expect(plan.tiles.count == 1)
    #expect(plan.sounds.count == 1)
    #expect(plan.tiles[0].start == 0)
    #expect(plan.problems == ["No user of the call has the name or id “nobody” that is to be excluded."])
  }

  @Test("A user is renamed by id or by name") func renamed() throws {
    let plan = try plan(RecordingFixture("1", name: "Ann"), RecordingFixture("2", name: "Ben")) {
      $0.renamed = ["1": "Anna", "Ben": "Benjamin"]
    }
    #expect(plan.tiles.map(\.label) == ["Anna", "Benjamin"])
  }

  @Test("Names of strangers are short and have no direction marks") func names() throws {
    let long = String(repeating: "a", count: 50)
    let marks = "n" + String(repeating: "\u{301}", count: 2_000)
    let plan = try plan(
      RecordingFixture("1", name: long), RecordingFixture("2", name: "a\u{202E}b\nc"),
      RecordingFixture("3", name: marks), RecordingFixture("4", name: "سارة"))
    #expect(plan.users[0].label == String(repeating: "a", count: 39) + "…")
    #expect(plan.users[1].label == "a\\u{202e}b\\u{a}c")
    #expect(plan.users[2].label.utf8.count <= 700)
    #expect(plan.users[3].label == "سارة")
  }

  // MARK: Streams

  @Test("A second video is a screen with a tile of its own") func screen() throws {
    let plan = try plan(
      RecordingFixture("ann", name: "Ann"),
      RecordingFixture("ann", name: "Ann").with {
        $0.stream = 2
        $0.start = 20
        $0.duration = 20
      })
    #expect(plan.users.count == 1)
    #expect(plan.tiles.map(\.isScreen) == [false, true])
    #expect(plan.tiles.map(\.stream) == [1, 2])
    #expect(plan.tiles.map(\.presence) == [[units(0...60)], [units(20...40)]])
    #expect(plan.sounds.map(\.stream) == [1, 2])
  }

  @Test("The description of a stream says whether it is a screen") func content() throws {
    func isScreen(_ content: String) throws -> [Bool] {
      try plan(
        RecordingFixture("ann"),
        RecordingFixture("ann").with {
          $0.stream = 2
          $0.content = content
        }
      ).tiles.map(\.isScreen)
    }
    #expect(try isScreen("slides") == [false, true])
    #expect(try isScreen("Screen share") == [false, true])
    #expect(try isScreen("alt") == [false, false])
  }

  @Test("A screen that is shared twice vanishes between") func screenTwice() throws {
    let plan = try plan(
      RecordingFixture("ann"),
      RecordingFixture("ann").with {
        $0.stream = 2
        $0.video?.gaps = [.init(reason: .streamEnded, start: 10, end: 30)]
      })
    #expect(plan.tiles[1].presence == [units(0...10), units(30...60)])
  }

  @Test("Audio and video in two streams are one tile") func split() throws {
    let plan = try plan(
      RecordingFixture("ann").with { $0.video = nil },
      RecordingFixture("ann").with {
        $0.stream = 2
        $0.start = 5
        $0.duration = 20
        $0.audio = nil
      })
    #expect(plan.tiles.map(\.isScreen) == [false])
    #expect(plan.tiles[0].stream == 2)
    #expect(
      plan.tiles[0].spans == [
        span(0, 5, .nameTile(.noVideo)), span(5, 25, .frames), span(25, 60, .nameTile(.noVideo)),
      ])
    #expect(plan.sounds.map(\.stream) == [1])
  }

  @Test("Sound of a further stream has no tile") func soundOnly() throws {
    let plan = try plan(
      RecordingFixture("ann"),
      RecordingFixture("ann").with {
        $0.stream = 2
        $0.video = nil
      })
    #expect(plan.tiles.count == 1)
    #expect(plan.sounds.count == 2)
  }

  // MARK: Sound

  @Test("Gaps of the sound are those in which the file has none") func soundGaps() throws {
    let plan = try plan(
      RecordingFixture("ann").with {
        $0.audio?.gaps = [
          .init(reason: .dtx, start: 5, end: 6), .init(reason: .recoveredLate, start: 7, end: 8),
          .init(reason: .lost, start: 10, end: 20, repaired: 5), .init(reason: .muted, start: 50, end: 58),
        ]
      }
    ) {
      $0.from = units(12)
      $0.to = units(55)
    }
    #expect(
      plan.sounds[0].gaps == [
        SoundGap(start: 0, end: units(8), reason: .lost, repaired: units(3)),
        SoundGap(start: units(38), end: units(43), reason: .muted),
      ])
  }

  @Test("A user without sound is not heard") func noSound() throws {
    let plan = try plan(RecordingFixture("ann").with { $0.audio = nil })
    #expect(!plan.hasAudio)
    #expect(plan.hasVideo)
  }

  // MARK: Limits

  @Test("Nothing is left of a call that is shorter") func empty() throws {
    #expect(throws: CompositionError.usage("Nothing is left: the call ends at 1:00.000, and --from is 1:00.000.")) {
      try plan(RecordingFixture("ann")) { $0.from = units(60) }
    }
    #expect(throws: CompositionError.usage("Nobody is left: all users of the call are excluded.")) {
      try plan(RecordingFixture("ann")) { $0.excluded = ["ann"] }
    }
  }

  @Test("Two hundred users are composed, and not one more") func users() throws {
    func plan(_ count: Int) throws -> CompositionPlan {
      let calls = try CallList(of: (0..<count).map { RecordingFixture("user \($0)").recording })
      let options = CompositionOptions(
        inputs: [], output: "a.mp4", format: .init(container: .mp4, video: .h264, audio: .aac))
      return try CompositionPlan(of: calls.calls[0], options: options) { _ in [] }
    }
    #expect(try plan(200).users.count == 200)
    #expect(throws: CompositionError.self) { try plan(201) }
  }

  @Test("A day is composed, and not more") func day() throws {
    let day = RecordingFixture("ann").with { $0.duration = 86_400 }
    #expect(try plan(day).duration == units(86_400))
    let longer = RecordingFixture("ann").with { $0.duration = 86_401 }
    #expect(throws: CompositionError.self) { try plan(longer) }
    #expect(try plan(longer) { $0.from = units(1) }.duration == units(86_400))
  }
}
