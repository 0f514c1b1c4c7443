import Testing

@testable import chatbot

@Suite("publishers of one source are out of sync")
struct StaggerScheduleTests {
  @Test("each of a few has a phase of its own, spread over a second")
  func few() {
    let stagger = StaggerSchedule(publishers: 4, isLive: false)
    #expect((0..<4).map(stagger.phase) == [0, 1, 2, 3])
    #expect((0..<4).map(stagger.delay) == [.zero, .milliseconds(250), .milliseconds(500), .milliseconds(750)])
  }

  @Test("many share phases evenly")
  func many() {
    let stagger = StaggerSchedule(publishers: 120, isLive: false)
    let sizes = Dictionary(grouping: 0..<120, by: stagger.phase).mapValues(\.count)
    #expect(sizes.count == StaggerSchedule.maximumPhases)
    #expect(Set(sizes.values) == [2, 3])
    #expect(stagger.delay(of: StaggerSchedule.maximumPhases - 1) < StaggerSchedule.span)
  }

  @Test("an encoder's frames wait for nobody")
  func live() {
    let stagger = StaggerSchedule(publishers: 120, isLive: true)
    #expect(stagger.phases == 1)
    #expect(stagger.delay(of: stagger.phase(of: 119)) == .zero)
  }

  @Test("lateness is given by the millisecond, and what is beyond a second is not lost")
  func lateness() {
    var lateness = Lateness()
    #expect(lateness.quantile(0.99) == nil)
    for _ in 0..<99 { lateness.add(.microseconds(300)) }
    lateness.add(.seconds(5))
    #expect(lateness.quantile(0.99) == 1)
    #expect(lateness.quantile(1) == 1001)
    lateness.add(.milliseconds(-2))
    #expect(lateness.count == 101)
    var sum = Lateness()
    sum.add(lateness)
    sum.add(lateness)
    #expect(sum.count == 202)
    #expect(sum.quantile(0.98) == 1)
  }
}
