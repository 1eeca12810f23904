// Forward-backward with expected counts on the lattice of three participants with eight detections
// each, and one word of up to three states: 1,536 joint states. One warp works on one clip.
//
// A lane holds 48 joint states in registers: the three word states, a pair of one participant's
// detections and all eight of another's. Only the axis that lies whole in a lane is contracted;
// shared memory brings the next one there. Frames with even numbers end with participant 2 in the
// lanes (layout A), odd ones with participant 0 (layout C), so two turns a frame suffice.
//
// Per clip and frame: pair[3][8][8] weighs word state, detections of 0 and 1; side[8][8] those of 0
// and 2; step[8][8] goes from a detection (row) to one in the next frame (column).

constexpr int STATES = 3, SIDE = 8, NODES = 1536, PAIR = 192, CELLS = 64;
constexpr int PITCH = 72;                     // floats between rows of a turn, free of conflicts
constexpr int TURN = SIDE * PITCH;            // floats for the turn of one word state
constexpr int STAGE = PAIR + 2 * CELLS;       // pair, side and step of one frame

typedef float Values[STATES][2][SIDE];

__device__ __forceinline__ void fetch(float* to, const float* from) {
    unsigned int address = static_cast<unsigned int>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from));
}
__device__ __forceinline__ void fetched() { asm volatile("cp.async.commit_group;"); }
template <int LEFT> __device__ __forceinline__ void await() {
    asm volatile("cp.async.wait_group %0;" ::"n"(LEFT));
    __syncwarp();
}

__device__ __forceinline__ void fetch_frame(
    float* stage, const float* pair, const float* side, const float* step, int lane) {
    fetch(stage + 4 * lane, pair + 4 * lane);
    if (lane < 16) fetch(stage + 128 + 4 * lane, pair + 128 + 4 * lane);
    else fetch(stage + PAIR + 4 * (lane - 16), side + 4 * (lane - 16));
    if (step != nullptr && lane < 16) fetch(stage + PAIR + CELLS + 4 * lane, step + 4 * lane);
}

__device__ __forceinline__ void load_step(float (&g)[SIDE][SIDE], const float* stage) {
    const float4* rows = reinterpret_cast<const float4*>(stage + PAIR + CELLS);
#pragma unroll
    for (int i = 0; i < SIDE; ++i) {
        float4 a = rows[2 * i], b = rows[2 * i + 1];
        g[i][0] = a.x; g[i][1] = a.y; g[i][2] = a.z; g[i][3] = a.w;
        g[i][4] = b.x; g[i][5] = b.y; g[i][6] = b.z; g[i][7] = b.w;
    }
}

template <bool BACK> __device__ __forceinline__ void contract(
    Values& v, const float (&g)[SIDE][SIDE]) {
#pragma unroll
    for (int q = 0; q < STATES; ++q)
#pragma unroll
        for (int k = 0; k < 2; ++k) {
            float sum[SIDE];
#pragma unroll
            for (int to = 0; to < SIDE; ++to) {
                sum[to] = 0.0f;
#pragma unroll
                for (int from = 0; from < SIDE; ++from)
                    sum[to] = fmaf(v[q][k][from], BACK ? g[to][from] : g[from][to], sum[to]);
            }
#pragma unroll
            for (int to = 0; to < SIDE; ++to) v[q][k][to] = sum[to];
        }
}

// Layouts. A: lane (row, c) holds detections 2c and 2c + 1 of participant 1, all of 2; row is 0's.
// B: lane (row, c) holds 2c and 2c + 1 of participant 2, all of 1; row is 0's.
// C: lane (row, c) holds 2c and 2c + 1 of participant 2, all of 0; row is 1's.
__device__ __forceinline__ void write_a(float* turn, const Values& v, int lane) {
    int row = lane >> 2, c = lane & 3;
#pragma unroll
    for (int q = 0; q < STATES; ++q)
#pragma unroll
        for (int m = 0; m < 4; ++m) {
            const float* x = &v[q][m >> 1][4 * (m & 1)];
            float4* to = reinterpret_cast<float4*>(
                turn + q * TURN + row * PITCH + (((4 * c + m) ^ (c >> 1)) << 2));
            *to = make_float4(x[0], x[1], x[2], x[3]);
        }
}
__device__ __forceinline__ void read_a(const float* turn, Values& v, int lane) {
    int row = lane >> 2, c = lane & 3;
#pragma unroll
    for (int q = 0; q < STATES; ++q)
#pragma unroll
        for (int m = 0; m < 4; ++m) {
            float* x = &v[q][m >> 1][4 * (m & 1)];
            float4 y = *reinterpret_cast<const float4*>(
                turn + q * TURN + row * PITCH + (((4 * c + m) ^ (c >> 1)) << 2));
            x[0] = y.x; x[1] = y.y; x[2] = y.z; x[3] = y.w;
        }
}
__device__ __forceinline__ int place_ab(int row, int c, int other) {
    return row * PITCH + (((2 * other + (c >> 1)) ^ (other >> 2)) << 2) + 2 * (c & 1);
}
__device__ __forceinline__ int place_c(int first, int second, int c) {
    return first * PITCH + second * SIDE + 2 * c;
}
// How layout B meets the others: rows shared with A, or columns turned for C.
template <int MEETS_C> __device__ __forceinline__ void write_b(
    float* turn, const Values& v, int lane) {
    int row = lane >> 2, c = lane & 3;
#pragma unroll
    for (int q = 0; q < STATES; ++q)
#pragma unroll
        for (int other = 0; other < SIDE; ++other) {
            int place = MEETS_C ? place_c(other, row, c) : place_ab(row, c, other);
            *reinterpret_cast<float2*>(turn + q * TURN + place) =
                make_float2(v[q][0][other], v[q][1][other]);
        }
}
template <int MEETS_C> __device__ __forceinline__ void read_b(
    const float* turn, Values& v, int lane) {
    int row = lane >> 2, c = lane & 3;
#pragma unroll
    for (int q = 0; q < STATES; ++q)
#pragma unroll
        for (int other = 0; other < SIDE; ++other) {
            int place = MEETS_C ? place_c(other, row, c) : place_ab(row, c, other);
            float2 y = *reinterpret_cast<const float2*>(turn + q * TURN + place);
            v[q][0][other] = y.x; v[q][1][other] = y.y;
        }
}
// In layout C the roles of row and register change places, the addresses stay.
__device__ __forceinline__ void write_c(float* turn, const Values& v, int lane) {
    int row = lane >> 2, c = lane & 3;
#pragma unroll
    for (int q = 0; q < STATES; ++q)
#pragma unroll
        for (int other = 0; other < SIDE; ++other)
            *reinterpret_cast<float2*>(turn + q * TURN + place_c(row, other, c)) =
                make_float2(v[q][0][other], v[q][1][other]);
}
__device__ __forceinline__ void read_c(const float* turn, Values& v, int lane) {
    int row = lane >> 2, c = lane & 3;
#pragma unroll
    for (int q = 0; q < STATES; ++q)
#pragma unroll
        for (int other = 0; other < SIDE; ++other) {
            float2 y = *reinterpret_cast<const float2*>(turn + q * TURN + place_c(row, other, c));
            v[q][0][other] = y.x; v[q][1][other] = y.y;
        }
}

template <bool FROM_A_TO_C, bool BACK> __device__ __forceinline__ void move(
    Values& v, const float (&g)[SIDE][SIDE], float* turn, int lane) {
    contract<BACK>(v, g);
    __syncwarp();
    if (FROM_A_TO_C) write_a(turn, v, lane); else write_c(turn, v, lane);
    __syncwarp();
    if (FROM_A_TO_C) read_b<0>(turn, v, lane); else read_b<1>(turn, v, lane);
    contract<BACK>(v, g);
    __syncwarp();
    if (FROM_A_TO_C) write_b<1>(turn, v, lane); else write_b<0>(turn, v, lane);
    __syncwarp();
    if (FROM_A_TO_C) read_c(turn, v, lane); else read_a(turn, v, lane);
    contract<BACK>(v, g);
}

template <bool LAYOUT_A> __device__ __forceinline__ void weigh(
    Values& v, const float* stage, int lane) {
    int row = lane >> 2, c = lane & 3;
    const float* side = stage + PAIR;
    if (LAYOUT_A) {
        float f[SIDE];
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            float4 y = reinterpret_cast<const float4*>(side)[2 * row + h];
            f[4 * h] = y.x; f[4 * h + 1] = y.y; f[4 * h + 2] = y.z; f[4 * h + 3] = y.w;
        }
#pragma unroll
        for (int q = 0; q < STATES; ++q) {
            float2 e = reinterpret_cast<const float2*>(stage + q * CELLS)[lane];
#pragma unroll
            for (int j = 0; j < SIDE; ++j) {
                v[q][0][j] *= e.x * f[j];
                v[q][1][j] *= e.y * f[j];
            }
        }
    } else {
#pragma unroll
        for (int j = 0; j < SIDE; ++j) {
            float2 f = reinterpret_cast<const float2*>(side)[4 * j + c];
#pragma unroll
            for (int q = 0; q < STATES; ++q) {
                float e = stage[q * CELLS + SIDE * j + row];
                v[q][0][j] *= e * f.x;
                v[q][1][j] *= e * f.y;
            }
        }
    }
}

__device__ __forceinline__ float warp_sum(float x) {
#pragma unroll
    for (int far = 16; far; far >>= 1) x += __shfl_xor_sync(0xffffffffu, x, far);
    return x;
}
__device__ __forceinline__ float total(const Values& v) {
    float x = 0.0f;
#pragma unroll
    for (int q = 0; q < STATES; ++q)
#pragma unroll
        for (int k = 0; k < 2; ++k)
#pragma unroll
            for (int j = 0; j < SIDE; ++j) x += v[q][k][j];
    return warp_sum(x);
}

// Sums over lanes that differ in one bit, each keeping half of the entries.
__device__ __forceinline__ float halve(float low, float high, int bit, int far) {
    float keep = bit ? high : low, send = bit ? low : high;
    return keep + __shfl_xor_sync(0xffffffffu, send, far);
}

// The posterior of frame t from what came into its nodes (arrived) and what is to come (w, which
// holds weight times future); leaves in w what goes on to the frame before.
template <bool LAYOUT_A, bool FIRST> __device__ __forceinline__ void count(
    Values& w, const float4* arrived, const float (&a)[STATES][STATES], float scale,
    float (&xi)[STATES][STATES], float* pair_out, float* side_out, int lane) {
    int row = lane >> 2, c = lane & 3;
    float pair[STATES][SIDE], side[2][SIDE];
#pragma unroll
    for (int j = 0; j < SIDE; ++j) {
        side[0][j] = side[1][j] = 0.0f;
#pragma unroll
        for (int q = 0; q < STATES; ++q) pair[q][j] = 0.0f;
    }
#pragma unroll
    for (int k = 0; k < 2; ++k)
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            float in[STATES][4];
#pragma unroll
            for (int q = 0; q < STATES; ++q) {
                float4 y = arrived[(4 * q + 2 * k + h) * 32 + lane];
                in[q][0] = y.x; in[q][1] = y.y; in[q][2] = y.z; in[q][3] = y.w;
            }
#pragma unroll
            for (int m = 0; m < 4; ++m) {
                const int j = 4 * h + m;
                float here = 0.0f, on[STATES];
#pragma unroll
                for (int q = 0; q < STATES; ++q) on[q] = 0.0f;
#pragma unroll
                for (int to = 0; to < STATES; ++to) {
                    float came = FIRST ? in[to][m] : 0.0f;
#pragma unroll
                    for (int from = 0; from < STATES; ++from)
                        if (!FIRST) {
                            came = fmaf(a[from][to], in[from][m], came);
                            xi[from][to] = fmaf(in[from][m], w[to][k][j], xi[from][to]);
                            on[from] = fmaf(a[from][to], w[to][k][j], on[from]);
                        }
                    float mass = came * w[to][k][j];
                    here += mass;
                    if (LAYOUT_A) pair[to][k] += mass; else pair[to][j] += mass;
                }
                if (LAYOUT_A) side[0][j] += here; else side[k][j] += here;
                if (!FIRST)
#pragma unroll
                    for (int q = 0; q < STATES; ++q) w[q][k][j] = on[q] * scale;
            }
        }
    if (LAYOUT_A) {
#pragma unroll
        for (int q = 0; q < STATES; ++q)
            reinterpret_cast<float2*>(pair_out + q * CELLS)[lane] =
                make_float2(pair[q][0], pair[q][1]);
        float four[4];
#pragma unroll
        for (int m = 0; m < 4; ++m) four[m] = halve(side[0][m], side[0][4 + m], (c >> 1) & 1, 2);
        float x = halve(four[0], four[2], c & 1, 1), y = halve(four[1], four[3], c & 1, 1);
        reinterpret_cast<float2*>(side_out)[lane] = make_float2(x, y);
    } else {
        int b0 = c & 1, b1 = c >> 1;
#pragma unroll
        for (int q = 0; q < STATES; ++q) {
            float four[4];
#pragma unroll
            for (int m = 0; m < 4; ++m) four[m] = halve(pair[q][2 * m], pair[q][2 * m + 1], b0, 1);
#pragma unroll
            for (int n = 0; n < 2; ++n) {
                float x = halve(four[2 * n], four[2 * n + 1], b1, 2);
                pair_out[q * CELLS + SIDE * (2 * (2 * n + b1) + b0) + row] = x;
            }
        }
        int b2 = row & 1, b3 = (row >> 1) & 1, b4 = row >> 2;
        float last[2];
#pragma unroll
        for (int k = 0; k < 2; ++k) {
            float four[4], two[2];
#pragma unroll
            for (int m = 0; m < 4; ++m) four[m] = halve(side[k][2 * m], side[k][2 * m + 1], b2, 4);
#pragma unroll
            for (int n = 0; n < 2; ++n) two[n] = halve(four[2 * n], four[2 * n + 1], b3, 8);
            last[k] = halve(two[0], two[1], b4, 16);
        }
        reinterpret_cast<float2*>(side_out)[4 * (4 * b4 + 2 * b3 + b2) + c] =
            make_float2(last[0], last[1]);
    }
}

__device__ __forceinline__ void keep(float4* frame, const Values& v, int lane) {
#pragma unroll
    for (int q = 0; q < STATES; ++q)
#pragma unroll
        for (int k = 0; k < 2; ++k)
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                const float* x = &v[q][k][4 * h];
                __stcs(frame + (4 * q + 2 * k + h) * 32 + lane,
                       make_float4(x[0], x[1], x[2], x[3]));
            }
}

template <bool TO_LAYOUT_C> __device__ __forceinline__ float forward_step(
    Values& v, const float* stage, const float (&a)[STATES][STATES], float* turn, float4* kept,
    float* scale, int lane) {
    float sum = total(v);
    float g[SIDE][SIDE];
    load_step(g, stage);
    move<TO_LAYOUT_C, false>(v, g, turn, lane);
    float r = sum > 0.0f ? 1.0f / sum : 0.0f;
#pragma unroll
    for (int q = 0; q < STATES; ++q)
#pragma unroll
        for (int k = 0; k < 2; ++k)
#pragma unroll
            for (int j = 0; j < SIDE; ++j) v[q][k][j] *= r;
    if (kept != nullptr) {
        keep(kept, v, lane);
        if (lane == 0) *scale = r;
    }
#pragma unroll
    for (int k = 0; k < 2; ++k)
#pragma unroll
        for (int j = 0; j < SIDE; ++j) {
            float next[STATES];
#pragma unroll
            for (int to = 0; to < STATES; ++to) {
                next[to] = 0.0f;
#pragma unroll
                for (int from = 0; from < STATES; ++from)
                    next[to] = fmaf(a[from][to], v[from][k][j], next[to]);
            }
#pragma unroll
            for (int to = 0; to < STATES; ++to) v[to][k][j] = next[to];
        }
    weigh<!TO_LAYOUT_C>(v, stage, lane);
    return sum;
}

template <bool IN_LAYOUT_C> __device__ __forceinline__ void backward_step(
    Values& v, const float* stage, const float4* arrived, const float (&a)[STATES][STATES],
    float scale, float (&xi)[STATES][STATES], float (&g)[SIDE][SIDE], float* pair_out,
    float* side_out, int lane) {
    weigh<!IN_LAYOUT_C>(v, stage, lane);
    count<!IN_LAYOUT_C, false>(v, arrived, a, scale, xi, pair_out, side_out, lane);
    load_step(g, stage);
}

extern "C" __global__ void __launch_bounds__(32, 8) lattice_counts(
    const float* pair, const float* side, const float* step, const float* initial,
    const float* transition, const float* final, const int* lengths, float* work, float* scales,
    float* pair_out, float* side_out, float* steps_out, float* log_score, int clips, int frames,
    int counting) {
    __shared__ __align__(16) float turn[STATES * TURN];
    __shared__ __align__(16) float arrived[NODES];
    __shared__ __align__(16) float stages[2][STAGE];
    const int lane = threadIdx.x;
    float* my_work = work + static_cast<long long>(blockIdx.x) * frames * NODES;
    float* my_scales = scales + static_cast<long long>(blockIdx.x) * frames;
    for (int clip = blockIdx.x; clip < clips; clip += gridDim.x) {
        const int length = lengths[clip];
        const long long first = static_cast<long long>(clip) * frames;
        const float* my_pair = pair + first * PAIR;
        const float* my_side = side + first * CELLS;
        const float* my_step = step + static_cast<long long>(clip) * (frames - 1) * CELLS;
        float a[STATES][STATES];
#pragma unroll
        for (int i = 0; i < STATES; ++i)
#pragma unroll
            for (int j = 0; j < STATES; ++j) a[i][j] = transition[clip * 9 + 3 * i + j];
        __syncwarp();
        fetch_frame(stages[0], my_pair, my_side, nullptr, lane);
        fetched();
        if (length > 1) fetch_frame(stages[1], my_pair + PAIR, my_side + CELLS, my_step, lane);
        fetched();
        Values v;
#pragma unroll
        for (int q = 0; q < STATES; ++q)
#pragma unroll
            for (int k = 0; k < 2; ++k)
#pragma unroll
                for (int j = 0; j < SIDE; ++j) v[q][k][j] = initial[clip * 3 + q];
        if (counting) keep(reinterpret_cast<float4*>(my_work), v, lane);
        await<1>();
        weigh<true>(v, stages[0], lane);
        float log_sum = 0.0f;
        for (int t = 1; t < length; ++t) {
            __syncwarp();
            if (t + 1 < length)
                fetch_frame(stages[(t + 1) & 1], my_pair + (t + 1) * PAIR,
                            my_side + (t + 1) * CELLS, my_step + t * CELLS, lane);
            fetched();
            await<1>();
            float4* kept =
                counting ? reinterpret_cast<float4*>(my_work + t * NODES) : nullptr;
            float sum;
            if (t & 1) sum = forward_step<true>(v, stages[1], a, turn, kept, my_scales + t, lane);
            else sum = forward_step<false>(v, stages[0], a, turn, kept, my_scales + t, lane);
            log_sum += logf(sum);
        }
        float end[STATES];
#pragma unroll
        for (int q = 0; q < STATES; ++q) {
            end[q] = final[clip * 3 + q];
#pragma unroll
            for (int k = 0; k < 2; ++k)
#pragma unroll
                for (int j = 0; j < SIDE; ++j) v[q][k][j] *= end[q];
        }
        const float mass = total(v);
        if (lane == 0) log_score[clip] = logf(mass) + log_sum;
        if (!counting) continue;
        const float share = mass > 0.0f ? 1.0f / mass : 0.0f;
#pragma unroll
        for (int q = 0; q < STATES; ++q)
#pragma unroll
            for (int k = 0; k < 2; ++k)
#pragma unroll
                for (int j = 0; j < SIDE; ++j) v[q][k][j] = end[q] * share;
        float xi[STATES][STATES] = {};
        asm volatile("cp.async.wait_group 0;");
        __threadfence_block();
        __syncwarp();
        float scale = length > 1 ? my_scales[length - 1] : 1.0f;
        for (int i = 0; i < 12; ++i)
            fetch(arrived + 4 * (i * 32 + lane),
                  my_work + (length - 1) * NODES + 4 * (i * 32 + lane));
        fetch_frame(stages[0], my_pair + (length - 1) * PAIR, my_side + (length - 1) * CELLS,
                    length > 1 ? my_step + (length - 2) * CELLS : nullptr, lane);
        fetched();
        const float4* in = reinterpret_cast<const float4*>(arrived);
        for (int t = length - 1; t >= 1; --t) {
            float g[SIDE][SIDE];
            float* pair_to = pair_out + (first + t) * PAIR;
            float* side_to = side_out + (first + t) * CELLS;
            await<0>();
            if (t & 1)
                backward_step<true>(v, stages[0], in, a, scale, xi, g, pair_to, side_to, lane);
            else
                backward_step<false>(v, stages[0], in, a, scale, xi, g, pair_to, side_to, lane);
            __syncwarp();
            scale = my_scales[t - 1];
            for (int i = 0; i < 12; ++i)
                fetch(arrived + 4 * (i * 32 + lane),
                      my_work + (t - 1) * NODES + 4 * (i * 32 + lane));
            fetch_frame(stages[0], my_pair + (t - 1) * PAIR, my_side + (t - 1) * CELLS,
                        t > 1 ? my_step + (t - 2) * CELLS : nullptr, lane);
            fetched();
            if (t & 1) move<false, true>(v, g, turn, lane);
            else move<true, true>(v, g, turn, lane);
        }
        await<0>();
        weigh<true>(v, stages[0], lane);
        count<true, true>(v, in, a, 1.0f, xi, pair_out + first * PAIR, side_out + first * CELLS,
                          lane);
#pragma unroll
        for (int i = 0; i < STATES; ++i)
#pragma unroll
            for (int j = 0; j < STATES; ++j) {
                float x = warp_sum(xi[i][j]) * a[i][j];
                if (lane == 0) steps_out[clip * 9 + 3 * i + j] = x;
            }
    }
}
