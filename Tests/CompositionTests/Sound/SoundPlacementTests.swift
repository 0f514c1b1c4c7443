import Composition
import Testing

@Suite("placing sound")
struct SoundPlacementTests {
  private func stereo(_ values: ClosedRange<Int>) -> [Float] { values.flatMap { [Float($0), Float(-$0)] } }

  @Test("The delay of a decoder is left out at the start, and what follows is earlier by it") func delay() {
    var placement = SoundPlacement()
    placement.begin(delay: 3)
    let first = placement.place(stereo(1...5), at: 100)
    #expect(first == SoundRun(start: 100, samples: stereo(4...5)))
    #expect(placement.place(stereo(6...10), at: 105) == SoundRun(start: 102, samples: stereo(6...10)))
    // After a gap as well.
    #expect(placement.place(stereo(1...2), at: 205) == SoundRun(start: 202, samples: stereo(1...2)))
  }

  @Test("A delay that is longer than the first packets is left out of all of them") func longDelay() {
    var placement = SoundPlacement()
    placement.begin(delay: 7)
    #expect(placement.place(stereo(1...5), at: 0) == nil)
    #expect(placement.place(stereo(6...10), at: 5) == SoundRun(start: 0, samples: stereo(8...10)))
  }

  @Test("What overlaps earlier sound is left out") func overlap() {
    var placement = SoundPlacement()
    placement.begin(delay: 0)
    _ = placement.place(stereo(1...5), at: 0)
    #expect(placement.place(stereo(1...5), at: 3) == SoundRun(start: 5, samples: stereo(3...5)))
    #expect(placement.place(stereo(1...2), at: 4) == nil)
    #expect(placement.place([], at: 20) == nil)
  }

  @Test("Another decoder begins where the one before it ends") func change() {
    var placement = SoundPlacement()
    placement.begin(delay: 4)
    _ = placement.place(stereo(1...10), at: 0)
    placement.begin(delay: 2)
    #expect(placement.place(stereo(1...10), at: 10) == SoundRun(start: 10, samples: stereo(3...10)))
  }

  @Test("A run is cut to a range") func clamping() {
    let run = SoundRun(start: 10, samples: stereo(1...5))
    #expect(run.clamped(to: 0..<100) == run)
    #expect(run.clamped(to: 12..<14) == SoundRun(start: 12, samples: stereo(3...4)))
    #expect(run.clamped(to: 15..<20) == nil)
    #expect(run.clamped(to: 0..<10) == nil)
    #expect(run.clamped(to: 12..<12) == nil)
    #expect(SoundRun(start: 0, samples: [1, 2, 3]).count == 1)
  }

  @Test("Samples are counted from the composition's zero, also before it") func clock() {
    #expect(SoundClock.sample(at: 0) == 0)
    #expect(SoundClock.sample(at: 29) == 1)
    #expect(SoundClock.sample(at: -1) == -1)
    #expect(SoundClock.sample(at: -15) == -1)
    #expect(SoundClock.sample(at: .min) < 0)
    #expect(SoundClock.time(ofSample: 48_000) == 720_000)
    #expect(SoundClock.time(ofSample: .max) == .max && SoundClock.time(ofSample: .min) == .min)
  }
}
