import Codecs
import Composer
import Composition
import Media
import Pattern
import RecordedCalls
import Testing

/// The mixed sound of synthetic calls, before it is encoded: where the marks of the pattern are.
@Suite("sound of calls") struct CallSoundTests {
  /// A mark of a user, in samples of 48 kHz from where it should be.
  private struct Mark {
    /// How much the clock of the user is ahead: users with the same clock are not distinguished.
    let shift: Int
    let error: Int64
  }

  /// Mixes a call and finds the marks in it.
  ///
  /// - Parameter beginning: the time of the call at the composition's zero, in seconds.
  private static func marks(_ planned: PlannedCall, beginning: Double = 0) -> (marks: [Mark], strange: Int) {
    let mixer = SoundMixer(planned.plan)
    var reader = PatternAudioReader()
    var found: [DetectedMark] = []
    var time: Int64 = 0
    while true {
      let stereo = mixer.next(48_000)
      if stereo.isEmpty { break }
      let mono = stride(from: 0, to: stereo.count, by: 2).map { stereo[$0] }
      found += reader.read(AudioSamples(samples: mono, channels: 1), at: time)
      time += Int64(mono.count)
    }
    found += reader.finish()
    var marks: [Mark] = []
    var strange = 0
    for mark in found {
      // The user whose clock explains the mark best.
      let errors = planned.call.users.map { user in
        let reading = mark.time + Int64(beginning * 48_000) + Int64(user.shift) * 48
        let second = reading / 48_000 - (reading / 48_000 - Int64(mark.second) + 1_772_357_400) % 256
        let candidates = [second, second + 256].map { reading - $0 * 48_000 }
        return Mark(shift: user.shift, error: candidates.min { abs($0) < abs($1) } ?? .max)
      }
      guard let best = errors.min(by: { abs($0.error) < abs($1.error) }), abs(best.error) < 4_800 else {
        strange += 1
        continue
      }
      marks.append(best)
    }
    return (marks, strange)
  }

  private static func expectInTime(
    _ planned: PlannedCall, beginning: Double = 0, within bound: Int64 = 72
  ) {
    let (marks, strange) = marks(planned, beginning: beginning)
    #expect(strange == 0)
    for user in planned.call.users where user.microphone?.isPattern == true {
      let errors = marks.filter { $0.shift == user.shift }.map(\.error)
      #expect(errors.count >= 2, "\(user.id) is heard")
      let worst = errors.max { abs($0) < abs($1) } ?? 0
      #expect(abs(worst) <= bound, "\(user.id): \(worst) samples")
    }
  }

  @Test("each user is heard to a millisecond or so where the clock of the call says, after each join")
  func visits() async throws {
    Self.expectInTime(try await PlannedCall(.visits(20)))
  }

  @Test("all codecs are heard at the same moment")
  func codecs() async throws {
    // The telephone codecs of ffmpeg and of this program delay by less than 2 ms.
    Self.expectInTime(try await PlannedCall(.changes(8)), within: 120)
  }

  @Test("users are heard together although the wall clock was set between their joins")
  func clock() async throws {
    let planned = try await PlannedCall(.clockThatIsSet(10))
    #expect(planned.plan.duration < 11 * 720_000)
    Self.expectInTime(planned)
  }

  @Test("sound that begins in mid-call is where it would be in the whole")
  func part() async throws {
    Self.expectInTime(
      try await PlannedCall(.visits(40)) { $0.from = 15 * 720_000 + 123 }, beginning: 15 + 123.0 / 720_000)
  }
}
