import Foundation
import RecordedCalls
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// When what is shown and heard in composed files, read by a program that is not ours.
  @Suite("times in a composed file") struct CompositionTimeTests {
    /// One frame of the output and one of the sender's, in milliseconds, and the rounding of the pattern's time and of containers.
    private static let frame = 1_000.0 / 30
    private static let rounding = 1.6

    /// Expects that each user is shown in time and heard in time.
    private static func expectInTime(_ composed: ComposedFile, of call: RecordedCall) throws {
      #expect(composed.irregular ?? 0 == 0 && composed.strange == 0)
      for user in call.users where user.camera != nil {
        let stream = try #require(composed.streams["\(user.pattern)"], "\(user.id) is shown")
        #expect(stream.lowest >= -rounding, "\(user.id): no frame is early: \(stream.lowest) ms")
        #expect(stream.highest <= frame + rounding, "\(user.id): less than a frame late: \(stream.highest) ms")
        #expect(stream.back == 0 && stream.lamp == 0 && stream.twice == nil, "\(user.id)")
        let marks = try #require(composed.marks["\(user.pattern)"], "\(user.id) is heard")
        #expect(
          max(abs(marks.lowest), abs(marks.highest)) < 10, "\(user.id): marks at \(marks.lowest) to \(marks.highest) ms"
        )
      }
    }

    @Test("tiles appear, move and vanish in the frames that the manifests say, and all show the same moment")
    func comingAndGoing() async throws {
      try await Scenario.run("38 visits", limit: .seconds(120)) { scenario in
        let call = RecordedCall.visits(10)
        let (composed, times, _) = try await scenario.composed(call)
        #expect(composed.width == 1_280 && composed.height == 720 && composed.rate == "30/1")
        #expect(composed.codec == "h264" && composed.sound == "aac" && composed.channels == 2)
        try Self.expectInTime(composed, of: call)
        #expect(composed.frames == times.users.map(\.frames.upperBound).max())
        #expect((composed.spread?.most ?? 99) <= Self.frame + Self.rounding)
        let alice = try #require(composed.streams["1"])
        #expect(alice.first == 0 && alice.count == composed.frames)
        #expect(
          Set(alice.places.dropFirst().map(\.from)) == times.changes, "Alice's tile moves when the number changes")
        let bob = try #require(composed.streams["2"])
        let (first, second) = (try #require(times["b1"]), try #require(times["b2"]))
        #expect(
          bob.first == ManifestTimes.frame(first.tracks["video"] ?? 0) && bob.last + 1 == second.frames.upperBound)
        let away = ManifestTimes.frame(second.tracks["video"] ?? 0) - first.frames.upperBound
        #expect(bob.gone == away, "Bob is away for \(away) frames")
        // Three tiles of equal size in a grid of two columns, the third in the middle below.
        let three = try #require(times["c1"]).frames.lowerBound
        let places = try ["1", "2", "3"].map { name in
          try #require(composed.streams[name]?.places.last { $0.from <= three + 10 }?.at)
        }
        #expect(places[0][1] == places[1][1] && places[0][0] < places[1][0] && places[2][1] > places[0][1])
        #expect(abs(places[2][0] * 2 + places[2][2] - 1_280) <= 4, "the last row is centred")
        #expect(Set(places.map { $0[2] / 4 }).count == 1)
      }
    }

    @Test("two users are together after hours, in picture and sound")
    func hours() async throws {
      try await Scenario.run("38 hours", limit: .seconds(1_200)) { scenario in
        let seconds = CompositionTestForm.isWhole ? 7_200.0 : 1_200
        let call = RecordedCall.hours(seconds)
        let recordings = try await scenario.record(call)
        let options = ["--size", "640x360"]
        let end = try await scenario.compose(recordings, to: "end.mp4", ["--from", "\(Int(seconds) - 15)s"] + options)
        let composed = try ComposedFile.read(end, of: call, beginning: 1_772_357_400_000 + (seconds - 15) * 1_000)
        try Self.expectInTime(composed, of: call)
        #expect((composed.spread?.most ?? 99) <= Self.frame + Self.rounding)
        guard CompositionTestForm.isWhole else { return }
        let whole = try await scenario.compose(recordings, to: "whole.mp4", options, within: .seconds(2_400))
        for part in [0.0..<15, 7_182..<7_200] {
          try Self.expectInTime(try ComposedFile.read(whole, of: call, part: part), of: call)
        }
      }
    }

    @Test("frames that are stored in another order than that in which they are shown appear at their times")
    func reordering() async throws {
      try await Scenario.run("39 B-frames", limit: .seconds(120)) { scenario in
        let call = RecordedCall.reordering()
        let (composed, _, _) = try await scenario.composed(call)
        try Self.expectInTime(composed, of: call)
      }
    }

    @Test("users are together although the wall clock was set between their joins")
    func clockThatIsSet() async throws {
      try await Scenario.run("38 clock", limit: .seconds(60)) { scenario in
        let call = RecordedCall.clockThatIsSet()
        let (composed, _, _) = try await scenario.composed(call, ["--size", "640x360"])
        #expect(composed.frames <= 302)
        try Self.expectInTime(composed, of: call)
      }
    }

    @Test("a shared screen is large for exactly the frames in which it is shared", arguments: ["grid", "speaker"])
    func screen(_ layout: String) async throws {
      try await Scenario.run("38 screen in \(layout)", limit: .seconds(60)) { scenario in
        let call = RecordedCall.screen(6)
        let (composed, times, _) = try await scenario.composed(call, ["--layout", layout])
        let screen = try #require(composed.streams["102"])
        let shared = try #require(times["b1", 2])
        #expect(screen.first == ManifestTimes.frame(shared.tracks["video"] ?? 0))
        #expect(screen.last + 1 == shared.frames.upperBound && screen.gone == 0 && screen.places.count == 1)
        let owner = try #require(composed.streams["2"]?.places.last { $0.from <= screen.first + 10 }?.at)
        #expect(composed.streams["2"]?.gone == 0, "the owner stays")
        let width = screen.places[0].at[2]
        // The camera has 4:3 in a tile of 16:9.
        #expect(Double(width) > 1.9 * Double(owner[2]) * 4 / 3)
      }
    }

    @Test(
      "frames come at the rate that was asked for",
      arguments: [("25", "25/1"), ("29.97", "30000/1001"), ("60", "60/1")])
    func rates(_ asked: String, _ rate: String) async throws {
      try await Scenario.run("38 rate \(asked)", limit: .seconds(60)) { scenario in
        var call = RecordedCall.visits(6)
        call.users.removeLast()
        let (composed, _, _) = try await scenario.composed(
          call, to: "meeting.mkv", ["--fps", asked, "--size", "640x360"])
        #expect(composed.rate == rate && composed.irregular == 0)
        for stream in composed.streams.values {
          // The sender's frames last 33 ms.
          #expect(stream.lowest >= -Self.rounding && stream.highest <= Self.frame + Self.rounding)
        }
      }
    }
  }
}
