import Codecs
import Composer
import Composition
import Media
import Pattern
import RecordedCalls
import Testing

/// The mixed sound of synthetic calls, before it is encoded: where the marks of the pattern are.
@Suite("sound of calls") struct CallSoundTests {
  /// Mixes what one user says in a call, and finds the marks in it. A reader does not tell apart the marks of several users that follow
  /// each other within half a second.
  ///
  /// - Parameters:
  ///   - shift: how much the clock of the user is ahead, in milliseconds.
  ///   - beginning: the time of the call at the composition's zero, in seconds.
  /// - Returns: by how many samples of 48 kHz each mark is late.
  private static func errors(
    of user: Int, in plan: CompositionPlan, shift: Int, beginning: Double
  ) -> [Int64] {
    var plan = plan
    plan.sounds.removeAll { $0.user != user }
    let mixer = SoundMixer(plan)
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
    return found.map { mark in
      let reading = mark.time + Int64(beginning * 48_000) + Int64(shift) * 48
      // A mark says its second modulo 256.
      let second = reading / 48_000 - (reading / 48_000 - Int64(mark.second) + 1_772_357_400) % 256
      let candidates = [second, second + 256].map { reading - $0 * 48_000 }
      return candidates.min { abs($0) < abs($1) } ?? .max
    }
  }

  private static func expectInTime(
    _ planned: PlannedCall, beginning: Double = 0, within bound: Int64 = 72
  ) {
    for (index, person) in planned.plan.users.enumerated() {
      let stays = planned.call.users.filter { user in
        user.microphone?.isPattern == true && person.ids.contains(UntrustedText(user.id))
      }
      guard let shift = stays.first?.shift else { continue }
      let errors = errors(of: index, in: planned.plan, shift: shift, beginning: beginning)
      #expect(errors.count >= 2, "\(person.label) is heard")
      let worst = errors.max { abs($0) < abs($1) } ?? 0
      #expect(abs(worst) <= bound, "\(person.label): \(worst) samples")
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
