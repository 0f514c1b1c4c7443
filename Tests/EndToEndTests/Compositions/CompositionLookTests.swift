import Foundation
import RecordedCalls
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// What is shown while the video of a user is missing or changes, by the brightness of regions of decoded frames.
  @Suite("looks of a composed file") struct CompositionLookTests {
    /// What a tile shows.
    private enum Look: Equatable {
      case frame
      case dimmed
      case other
    }

    /// Returns what a tile shows in a frame, by its upper part, in which the pattern has colour bars.
    private static func look(_ figures: [[Double]], at frame: Int) -> Look {
      let (usual, now) = (figures[30], figures[frame])
      let (luma, deviation) = (now[0] / usual[0], now[1] / usual[1])
      if luma > 0.9, luma < 1.1, deviation > 0.9 { return .frame }
      // Black is 16.
      if luma > 0.45, luma < 0.75, deviation > 0.35, deviation < 0.65 { return .dimmed }
      return .other
    }

    /// Returns the first frame of each look after the first second.
    private static func changes(_ figures: [[Double]]) -> [(frame: Int, look: Look)] {
      var changes: [(frame: Int, look: Look)] = []
      for frame in figures.indices.dropFirst(30) {
        let look = look(figures, at: frame)
        if changes.last?.look != look { changes.append((frame, look)) }
      }
      return Array(changes.dropFirst())
    }

    @Test("each reason of a gap has its look, which begins and ends in the frame that the document says")
    func gaps() async throws {
      try await Scenario.run("38 gaps", limit: .seconds(120)) { scenario in
        let call = RecordedCall.gaps(8)
        let recordings = try await scenario.record(call)
        let url = try await scenario.compose(recordings)
        let places = try ComposedFile.read(url, of: call, part: 0..<2).streams.compactMapValues(\.places.last?.at)
        let shown = call.users.filter { $0.camera != nil }
        // The middle of the colour bars.
        let regions = try shown.map { user in
          let at = try #require(places["\(user.pattern)"], "\(user.id) is shown")
          return [at[0] + at[2] / 4, at[1] + at[3] / 30, at[2] / 2, at[3] / 15]
        }
        let composed = try ComposedFile.read(url, of: call, regions: regions)
        #expect(composed.strange == 0)
        for (user, figures) in zip(shown, composed.regions) {
          let changes = Self.changes(figures)
          let expected: [(Int, Look)]
          switch user.name {
          case "lost", "waitingForKeyframe", "overloaded", "diskStalled": expected = [(150, .dimmed), (210, .frame)]
          case "senderPaused": expected = [(150, .other), (210, .frame)]
          case "muted": expected = [(90, .other), (210, .frame)]
          case "reconnect": expected = [(120, .dimmed), (210, .frame)]
          default: expected = []
          }
          #expect(
            changes.map(\.look) == expected.map(\.1) && changes.map(\.frame) == expected.map(\.0),
            "\(user.name ?? user.id): \(changes)")
        }
        // Whoever mutes the camera is still heard.
        let muted = try #require(call.users.first { $0.name == "muted" })
        #expect(composed.marks["\(muted.pattern)"]?.count ?? 0 >= 7)
      }
    }

    @Test("changes of size, orientation and codec are followed, and codecs are together in time")
    func changes() async throws {
      try await Scenario.run("38 changes", limit: .seconds(120)) { scenario in
        let call = RecordedCall.changes()
        let (composed, times, _) = try await scenario.composed(call)
        #expect(composed.strange == 0)
        for user in call.users {
          let stream = try #require(composed.streams["\(user.pattern)"], "\(user.id)")
          let frame = 1_000 / Double(user.camera?.framesPerSecond ?? 30)
          #expect(
            stream.lowest >= -1.6 && stream.highest <= frame + 1.6, "\(user.id): \(stream.lowest) to \(stream.highest)")
          #expect(stream.back == 0 && stream.gone <= 1, "\(user.id): gone for \(stream.gone) frames")
          if let marks = composed.marks["\(user.pattern)"] {
            #expect(max(abs(marks.lowest), abs(marks.highest)) < 10, "\(user.id)")
          }
        }
        let sizes = try #require(composed.streams["1"]?.places)
        #expect(sizes.count == 3, "4:3, 16:9 and 11:9: \(sizes)")
        let rotated = try #require(composed.streams["2"]?.places)
        #expect(rotated.count == 2 && rotated[1].from == 180 && rotated[1].at[2] < rotated[1].at[3])
        // The pattern can be read only where it is upright.
        let turned = try #require(composed.streams["7"]?.places)
        #expect(turned.count == 1, "turned and mirrored frames are shown as upright ones: \(turned)")
        let av1 = try #require(composed.streams["8"]?.places)
        #expect(av1.count == 2 && av1[1].from == 240, "VP8 and then AV1 of 4:3, and AV1 of 16:9 from 8 s on: \(av1)")
        let h265 = try #require(composed.streams["9"]?.places)
        #expect(h265.count == 1, "VP8 and then H.265 are in one place: \(h265)")
        for (user, codec) in [("codecs", "h264"), ("av1", "av1"), ("h265", "h265")] {
          let codecs = try #require(times[user]?.videoCodecs)
          // A change of the profile is listed too.
          #expect(codecs.first == "vp8" && codecs.last == codec && Set(codecs).count == 2, "\(user): \(codecs)")
        }
        // The marks of users with the same clock are added.
        #expect(composed.marks.values.allSatisfy { $0.count >= 11 })
      }
    }

    @Test("in the layout with a speaker, each is large from before their first word on")
    func speakers() async throws {
      try await Scenario.run("38 speakers", limit: .seconds(120)) { scenario in
        let call = RecordedCall.speakers(12)
        let (composed, _, _) = try await scenario.composed(call, ["--layout", "speaker"])
        for (number, user) in call.users.enumerated() {
          let stream = try #require(composed.streams["\(user.pattern)"])
          let large = stream.places.filter { $0.at[2] > 500 }
          let turn = (2 + 4 * number) * 30
          if number == 0 || turn >= composed.frames { continue }
          let from = try #require(large.first?.from, "\(user.id) is large")
          #expect((turn - 20...turn).contains(from), "\(user.id) is large from \(from), and speaks from \(turn)")
        }
      }
    }
  }
}
