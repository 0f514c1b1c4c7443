import Foundation
import RecordedCalls
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// What is heard in composed files, after the codec of the output.
  @Suite("sound of a composed file") struct CompositionSoundTests {
    @Test("a call without video is a file with sound, and one speaker is as loud as recorded")
    func oneSpeaker() async throws {
      try await Scenario.run("38 one speaker", limit: .seconds(60)) { scenario in
        let tone = 440.0
        let call = RecordedCall([
          RecordedUser(
            "a1", 0..<6, camera: nil,
            microphone: .init(bitrate: 96_000, tones: [.init(tone, amplitude: 0.4, spans: [1.5..<2.5, 3.5..<4.5])]))
        ])
        let recordings = try await scenario.record(call)
        let recorded = try ComposedFile.read(recordings.appendingPathComponent("a1.ogg"), of: call, tones: [tone])
        for ending in ["m4a", "ogg"] {
          let url = try await scenario.compose(recordings, to: "sound.\(ending)")
          // Zero is the first packet, at 20 ms of the call.
          let composed = try ComposedFile.read(url, of: call, beginning: 1_772_357_400_020, tones: [tone])
          #expect(composed.width == nil && composed.channels == 2 && composed.sampleRate == 48_000)
          let marks = try #require(composed.marks["0"])
          #expect(marks.count >= 5 && max(abs(marks.lowest), abs(marks.highest)) < 1, "\(marks)")
          let (one, other) = (try #require(composed.tones?[0]), try #require(recorded.tones?[0]))
          // 2.2 s is within the tone.
          #expect(abs(20 * log10(one[110] / other[110])) < 0.2, "\(ending): \(one[110]) for \(other[110])")
        }
      }
    }

    @Test("four voices at full scale stay below the limit, and a voice beside bursts does not pump")
    func limiter() async throws {
      try await Scenario.run("38 limiter", limit: .seconds(60)) { scenario in
        let chorus = RecordedCall.chorus()
        let loud = try await scenario.compose(try await scenario.record(chorus, as: "chorus"), to: "chorus.ogg")
        let composed = try ComposedFile.read(loud, of: chorus, tones: [220])
        let peak = 20 * log10(composed.peak ?? 1)
        // The codec of the output may exceed what it was given.
        #expect(peak > -3 && peak < -0.4, "the peak is \(peak) dBFS")

        let bursts = RecordedCall.bursts()
        let url = try await scenario.compose(try await scenario.record(bursts, as: "bursts"), to: "bursts.ogg")
        let steady = try #require(try ComposedFile.read(url, of: bursts, tones: [1_000]).tones?[0])
        // Outside of the bursts, which last from 0 to 200 ms of each second, and of the release after them.
        let outside = steady.enumerated().filter {
          (100..<350).contains($0.offset) && (25..<49).contains($0.offset % 50)
        }
        .map(\.element)
        let (least, most) = (outside.min() ?? 0, outside.max() ?? 1)
        #expect(20 * log10(most / least) < 0.5, "from \(least) to \(most)")
        #expect(abs(20 * log10(most / 0.2)) < 0.5)
      }
    }
  }
}
