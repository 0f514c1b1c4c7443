import Inspection
import Testing

@Suite("the progress of an inspection")
struct InspectionProgressTests {
  private func line(_ time: Duration, end: Duration, recordings: Int, elapsed: Duration) -> String {
    RecordingInspection.Progress.judging(time, end: end).line(of: recordings, elapsed: elapsed)
  }

  @Test("it is a line with what is judged, how far and how fast")
  func judging() {
    #expect(
      line(.seconds(25), end: .seconds(61), recordings: 2, elapsed: .seconds(2))
        == "inspect: 2 recordings, 40 %, 0:25 of 1:01, 13x as fast as it was made")
    #expect(
      line(.microseconds(-7), end: .seconds(61), recordings: 2, elapsed: .zero)
        == "inspect: 2 recordings, 0 %, 0:00 of 1:01")
    #expect(
      line(.seconds(Int64.max), end: .seconds(4_000), recordings: 1, elapsed: .zero)
        == "inspect: 1 recording, 100 %, 1:06:40 of 1:06:40")
  }

  @Test("recordings that are opened are counted")
  func opening() {
    let progress = RecordingInspection.Progress.opening(2, of: 3)
    #expect(progress.line(of: 3, elapsed: .zero) == "inspect: opening recording 2 of 3")
  }
}
