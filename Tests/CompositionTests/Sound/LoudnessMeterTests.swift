import Composition
import Foundation
import Testing

@Suite("loudness")
struct LoudnessMeterTests {
  /// A tone of both channels; each part has a level in dBFS and a length in seconds.
  private func measure(_ parts: [(level: Double, seconds: Double)], frequency: Double = 997) -> Double? {
    var meter = LoudnessMeter()
    var position = 0
    for part in parts {
      let amplitude = pow(10, part.level / 20)
      let samples = (0..<Int(part.seconds * 48_000)).flatMap { index -> [Float] in
        let sample = Float(amplitude * sin(2 * .pi * frequency * Double(position + index) / 48_000))
        return [sample, sample]
      }
      position += samples.count / 2
      samples.withUnsafeBufferPointer { meter.add($0) }
    }
    return meter.loudness
  }

  @Test("A tone of both channels has the loudness that EBU Tech 3341 says") func steady() throws {
    #expect(abs(try #require(measure([(-23, 5)])) + 23) < 0.1)
    #expect(abs(try #require(measure([(-33, 5)])) + 33) < 0.1)
  }

  @Test("Silence and quiet parts are left out (EBU Tech 3341, cases 3 and 4)") func gates() throws {
    #expect(abs(try #require(measure([(-36, 2), (-23, 20), (-36, 2)])) + 23) < 0.12)
    #expect(abs(try #require(measure([(-72, 2), (-36, 2), (-23, 20), (-36, 2), (-72, 2)])) + 23) < 0.12)
  }

  @Test("Silence has no loudness") func silence() {
    #expect(measure([(-80, 3)]) == nil)
    #expect(measure([]) == nil)
    #expect(measure([(-20, 0.3)]) == nil)
  }

  @Test("Low tones count less, high ones more") func weighting() throws {
    let middle = try #require(measure([(-23, 2)]))
    #expect(try #require(measure([(-23, 2)], frequency: 40)) < middle - 3)
    #expect(try #require(measure([(-23, 2)], frequency: 6_000)) > middle + 2)
  }

  @Test("A gain brings speech to -20 LUFS, by at most 20 dB") func gain() {
    #expect(abs(LoudnessMeter.gain(for: -26) - 1.995) < 0.01)
    #expect(abs(LoudnessMeter.gain(for: -14) - 0.501) < 0.01)
    #expect(LoudnessMeter.gain(for: -60) == 10)
    #expect(LoudnessMeter.gain(for: nil) == 1)
  }
}
