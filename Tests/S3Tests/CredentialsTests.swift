import Foundation
import ObjectStore
import S3
import Synchronization
import Testing

@Suite struct CredentialsTests {
  private let folder: TemporaryFolder
  private let key: ObjectKey

  init() throws {
    folder = try TemporaryFolder()
    key = try #require(ObjectKey("a"))
  }

  /// The ids with which the requests to the store were signed.
  private func ids(_ model: ModelStore) -> [String] {
    model.requests.compactMap { request in
      request.headers.first { $0.name == "authorization" }
        .flatMap { $0.value.split(separator: "=").dropFirst().first }
        .map { String($0.prefix { $0 != "/" }) }
    }
  }

  private func store(_ environment: [String: String], _ configure: (inout S3Configuration) -> Void = { _ in }) throws
    -> StoreUnderTest
  {
    let test = try StoreUnderTest(environment: environment, configure: configure)
    _ = test.model.state.withLock { $0.faultRate }
    return test
  }

  @Test func aProfileOfTheSharedFileIsReadAgainWhenItChanges() async throws {
    let text = """
      # Credentials
      [default]
      aws_access_key_id = AKDEFAULT
      aws_secret_access_key=one
      [ other ]
      aws_access_key_id=AKOTHER
      aws_secret_access_key = t=w=o
      aws_session_token = token
      [incomplete]
      aws_access_key_id=AK
      """
    let path = try folder.write("credentials", text)
    let test = try store([:]) {
      $0.credentialsFile = path
      $0.profile = "other"
    }
    _ = try await test.store.put([1], at: key)
    #expect(Set(ids(test.model)) == ["AKOTHER"])
    #expect(test.model.requests.first?.headers.contains { $0 == ("x-amz-security-token", "token") } == true)
    _ = try folder.write("credentials", text.replacingOccurrences(of: "AKOTHER", with: "AKNEWER"))
    test.clock.advance(.seconds(6))
    test.model.change { $0.requests = [] }
    _ = try await test.store.put([1], at: key)
    #expect(Set(ids(test.model)) == ["AKNEWER"])

    let standard = try store(["AWS_SHARED_CREDENTIALS_FILE": path])
    _ = try await standard.store.put([1], at: key)
    #expect(Set(ids(standard.model)) == ["AKDEFAULT"])
    for profile in ["incomplete", "none"] {
      let test = try store(["AWS_SHARED_CREDENTIALS_FILE": path, "AWS_PROFILE": profile])
      let error = await #expect(throws: ObjectStoreError.self) { try await test.store.put([1], at: key) }
      #expect(error?.kind == .refused)
      #expect(test.store.problem?.contains("no profile") == true)
    }
  }

  @Test func refusedCredentialsAreReplacedAtOnceByThoseInTheFile() async throws {
    func text(_ id: String) -> String { "[default]\naws_access_key_id=\(id)\naws_secret_access_key=x\n" }
    let path = try folder.write("credentials", text("AKOLD"))
    let test = try store(["AWS_SHARED_CREDENTIALS_FILE": path])
    test.model.change { state in
      state.intercept = { request, _ in
        let isOld = request.headers.contains { $0.name == "authorization" && $0.value.contains("AKOLD") }
        return isOld ? ModelStore.error(403, "InvalidAccessKeyId") : nil
      }
    }
    await #expect(throws: ObjectStoreError.self) { try await test.store.put([1], at: key) }
    #expect(test.store.problem != nil)
    _ = try folder.write("credentials", text("AKNEW"))
    _ = try await test.store.put([1], at: key)
    #expect(test.store.problem == nil)
  }

  @Test func aWebIdentityTokenIsExchangedBeforeTheCredentialsEnd() async throws {
    let path = try folder.write("token", "eyJ.a+b/c=\n")
    let test = try store([
      "AWS_WEB_IDENTITY_TOKEN_FILE": path, "AWS_ROLE_ARN": "arn:aws:iam::1:role/r", "HOME": folder.path,
      "AWS_ENDPOINT_URL_STS": "http://127.0.0.1:7000",
    ])
    let clock = test.clock
    let count = Mutex(0)
    test.model.change { state in
      state.intercept = { request, _ in
        guard request.url == "http://127.0.0.1:7000/" else { return nil }
        let number = count.withLock { count in
          count += 1
          return count
        }
        guard case .bytes(let form) = request.body else { return S3Response(status: 400) }
        let text = String(decoding: form, as: UTF8.self)
        guard text.contains("Action=AssumeRoleWithWebIdentity&"), text.contains("&WebIdentityToken=eyJ.a%2Bb%2Fc%3D"),
          text.contains("&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr&")
        else { return S3Response(status: 400) }
        let end = UTCTime(milliseconds: clock.now.milliseconds + 3_600_000).text
        return S3Response(
          status: 200,
          body: Array(
            """
            <AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult>
            <Credentials><AccessKeyId>ASIA\(number)</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>
            <Expiration>\(end)</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>
            """.utf8))
      }
    }
    _ = try await test.store.put([1], at: key)
    clock.advance(.seconds(3_600 - 660))
    _ = try await test.store.put([1], at: key)
    #expect(Set(ids(test.model)) == ["ASIA1"])
    clock.advance(.seconds(120))
    _ = try await test.store.put([1], at: key)
    #expect(Set(ids(test.model)) == ["ASIA1", "ASIA2"])
    #expect(count.withLock { $0 } == 2)
  }

  @Test func credentialsThatCannotBeRenewedAreUsedUntilTheyEnd() async throws {
    let test = try store(["AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1:7000/role?a=b", "HOME": folder.path])
    let clock = test.clock
    let isUp = Mutex(true)
    test.model.change { state in
      state.intercept = { request, _ in
        guard request.url == "http://127.0.0.1:7000/role?a=b" else { return nil }
        guard isUp.withLock({ $0 }) else { throw S3TransportError.timeout }
        let end = UTCTime(milliseconds: clock.now.milliseconds + 3_600_000).text
        return S3Response(
          status: 200,
          body: Array(
            #"{"AccessKeyId":"ASIA","SecretAccessKey":"s","Token":"t","Expiration":"\#(end)","RoleArn":"x"}"#.utf8))
      }
    }
    _ = try await test.store.put([1], at: key)
    isUp.withLock { $0 = false }
    clock.advance(.seconds(3_300))
    _ = try await test.store.put([1], at: key)
    #expect(test.store.problem == nil)
    clock.advance(.seconds(400))
    // They have ended: reading gives up, and storing would wait.
    let error = await #expect(throws: ObjectStoreError.self) { try await test.store.open(key) }
    #expect(error?.kind == .timeout)
    isUp.withLock { $0 = true }
    #expect(try await test.store.open(key).size == 1)
  }

  @Test func theTokenOfAContainerIsReadFromItsFile() async throws {
    let token = try folder.write("token", "secret-token\n")
    let test = try store([
      "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/v2/x", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": token,
      "HOME": folder.path,
    ])
    test.model.change { state in
      state.intercept = { request, _ in
        guard request.url == "http://169.254.170.2/v2/x" else { return nil }
        guard request.headers.contains(where: { $0 == ("authorization", "secret-token") }) else {
          return S3Response(status: 401)
        }
        return S3Response(status: 200, body: Array(#"{"AccessKeyId":"AS","SecretAccessKey":"s"}"#.utf8))
      }
    }
    _ = try await test.store.put([1], at: key)
    #expect(ids(test.model).contains("AS"))
  }

  @Test(arguments: [
    "http://169.254.169.254/latest", "http://evil.example/x", "ftp://127.0.0.1/", "http://127.0.0.1:x/",
    "http://127.0.0.1/a b",
    "http://127.0.0.1@evil.example/",
  ]) func aTokenGoesToNoOtherHostWithoutEncryption(_ url: String) {
    #expect(throws: S3Configuration.Problem.self) {
      try store(["AWS_CONTAINER_CREDENTIALS_FULL_URI": url, "HOME": folder.path])
    }
  }

  @Test func withoutCredentialsTheStoreSaysWhereItLooked() async throws {
    let test = try store(["HOME": folder.path])
    let error = await #expect(throws: ObjectStoreError.self) { try await test.store.put([1], at: key) }
    #expect(error?.kind == .refused)
    #expect(test.store.problem?.contains("\(folder.path)/.aws/credentials") == true)
    #expect(throws: S3Configuration.Problem.self) { try store([:]) }
  }
}
